"""A report on a table of ratings: one HTML page that opens offline."""

from unheard.report.build import make_report, render_report

__all__ = ["make_report", "render_report"]
