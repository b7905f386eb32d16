from .fake_server import FakeServer as FakeServer
