r"""Lists as a server reads them in text: a driver takes longer to adapt every value than to send them all.

It looks at each value of a list to find a type that fits all of them, and a statement with another type is
another statement, planned anew. As text, which the statement casts, it is one value of one type.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"'})
"""What means something else inside the quotes of an array."""


def array(values: Iterable[object]) -> str:
    """Return numbers, or truths, as an array.

    Examples
    --------
    >>> array([1, 2.5, True]), array([])
    ('{1,2.5,True}', '{}')
    """
    return f"{{{','.join(map(str, values))}}}"


def text_array(values: Iterable[str]) -> str:
    r"""Return texts as an array.

    Examples
    --------
    >>> print(text_array(['tea', 'a "b"', 'c\\d', 'NULL', '']))
    {"tea","a \"b\"","c\\d","NULL",""}
    """
    return array(f'"{value.translate(_ESCAPED)}"' for value in values)
