from .server import open_viewer as open_viewer, serve as serve
