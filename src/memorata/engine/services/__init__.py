"""Language models behind services, and what reads texts with them."""
