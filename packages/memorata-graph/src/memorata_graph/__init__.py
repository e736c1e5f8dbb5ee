"""The graph of Memorata: declared entities and relations, paths, PageRank, communities, places."""
