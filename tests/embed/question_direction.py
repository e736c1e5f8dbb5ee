"""The direction in which questions lie from their answers, for the built-in model.

``python -m tests.embed.question_direction`` writes the file that the package ships.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from memorata.embed.ngram_encoder import BuiltinEmbedder

SHIPPED = Path(__file__).parents[2] / "src" / "memorata" / "embed" / "question_direction.npy"
PAIRS = [
    ("Where does Anna live?", "Anna lives in Hamburg."),
    ("What does Tom like to eat?", "Tom likes pasta."),
    ("When did you buy the car?", "I bought the car in May."),
    ("Who is my doctor?", "My doctor is Mr Lee."),
    ("How old is the dog?", "The dog is five years old."),
    ("Why did she leave?", "She left because she was tired."),
    ("Which film did they watch?", "They watched a comedy."),
    ("Do you have children?", "I have two children."),
    ("Wo wohnt Anna?", "Anna wohnt in Hamburg."),
    ("Was isst Tom gerne?", "Tom isst gerne Nudeln."),
    ("Wann hast du das Auto gekauft?", "Ich habe das Auto im Mai gekauft."),
    ("¿Dónde vive Anna?", "Anna vive en Madrid."),
    ("¿Qué le gusta comer a Tom?", "A Tom le gusta la pasta."),
    ("Où habite Anna ?", "Anna habite à Paris."),
    ("Que mange Tom ?", "Tom mange des pâtes."),
    ("安娜住在哪里？", "安娜住在北京。"),
    ("汤姆喜欢吃什么？", "汤姆喜欢吃面条。"),
    ("Где живёт Анна?", "Анна живёт в Москве."),
    ("アンナはどこに住んでいますか？", "アンナは東京に住んでいます。"),
    ("안나는 어디에 살아요?", "안나는 서울에 살아요."),
]


def computed(embedder: BuiltinEmbedder) -> npt.NDArray[np.float32]:
    """Return the mean difference between questions and answers, of length 1."""
    questions, answers = (embedder.embed_documents(texts) for texts in zip(*PAIRS, strict=True))
    mean = (questions - answers).mean(axis=0)
    direction: npt.NDArray[np.float32] = mean / np.linalg.norm(mean)
    return direction


if __name__ == "__main__":
    np.save(SHIPPED, computed(BuiltinEmbedder()).astype(np.float16))
