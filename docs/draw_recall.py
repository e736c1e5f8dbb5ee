"""Draw what `memorata recall --explain` shows of the demo's conversation: docs/recall.svg, for the README.

Run it again after the output of the command changes: ``python docs/draw_recall.py``.
"""

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

import memorata
from memorata.cli.recall import explanation_tree, hits_table
from memorata.service.transfer import conversation

QUESTION = "Why did we move the job queue to PostgreSQL?"
DRAWN = Path(__file__).parent / "recall.svg"


def draw(target: Path = DRAWN) -> None:
    """Recall from the conversation, and draw the answer."""
    console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder, memorata.open(Path(folder) / "demo.db") as memory:
        memory.remember_many(conversation())
        answer = memory.recall(QUESTION, limit=2)
        console.print(Text(f"$ memorata recall --explain {QUESTION!r}", style="bold"))
        console.print(hits_table(answer))
        console.print(explanation_tree(answer.hits[0].explanation))
    drawing = console.export_svg(title="memorata")
    # Whatever shows the picture has a font of its own; it should not have to ask a server for one.
    target.write_text(re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    draw()
