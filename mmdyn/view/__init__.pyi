from .export import export as export
from .html_report import write_report as write_report
from .server import open_viewer as open_viewer, serve as serve
