"""Re-embeds what is at an address, slowly, and says so after each batch; killed by the tests of leases."""

import sys
from collections.abc import Sequence
from time import sleep

import memorata
from memorata.embed import LexicalEmbedder
from memorata.embed.port import Vectors


class Slow(LexicalEmbedder):
    """An embedder that takes its time."""

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        sleep(0.05)
        return super().embed_passages(texts)


if __name__ == "__main__":
    with memorata.open(
        sys.argv[1], embedder=Slow(dimension=64), config={"lease_seconds": float(sys.argv[2])}
    ) as memory:

        def told(done: int, total: int) -> None:
            sys.stdout.write(f"{done} of {total}\n")
            sys.stdout.flush()

        memory.admin.reembed(batch=16, progress=told)
