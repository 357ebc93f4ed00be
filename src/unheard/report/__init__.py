"""A report: one page that opens offline, for people who decide."""

from unheard.report.build import make_report, report_of

__all__ = ["make_report", "report_of"]
