"""The life of memories: tiers, confidence, expiry and summaries."""
