"""What happened: logged requests, the audit, and what models were asked."""
