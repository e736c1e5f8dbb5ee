"""Near-duplicates as the published designs find them: MinHash LSH, blocked products, clusters of pairs."""

from memorata_lab.duplicates.minhash import (
    Banding,
    RensaSigner,
    ShingleSigner,
    Signer,
    bands_for,
    character_shingles,
    jaccard,
    lsh_threshold,
    miss_probability,
)
from memorata_lab.duplicates.pairs import (
    Method,
    NearPairs,
    clusters,
    groups,
    method_for,
    near_pairs,
    similar_pairs,
)

__all__ = [
    "Banding",
    "Method",
    "NearPairs",
    "RensaSigner",
    "ShingleSigner",
    "Signer",
    "bands_for",
    "character_shingles",
    "clusters",
    "groups",
    "jaccard",
    "lsh_threshold",
    "method_for",
    "miss_probability",
    "near_pairs",
    "similar_pairs",
]
