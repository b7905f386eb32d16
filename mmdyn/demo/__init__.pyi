from .make import make_demo as make_demo
