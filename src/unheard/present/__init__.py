"""Every sentence and document that the product utters, once for all surfaces."""
