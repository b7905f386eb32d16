from .export import export as export
from .html_report import report_page as report_page
from .server import open_viewer as open_viewer, serve as serve
