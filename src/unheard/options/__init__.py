"""Every option of the product, declared once, for Python, the command line, REST and the page."""
