"""How is meaning measured? One file per embedder, all behind one port."""
