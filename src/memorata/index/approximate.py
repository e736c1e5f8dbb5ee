"""Approximate search in large namespaces: only the cells about a query are read.

The vectors are sorted into about 2·√n cells; a cell is what lies closest to one centre (an inverted file;
Jégou, Douze & Schmid, "Product quantization for nearest neighbor search", 2011). They are kept as plain
arrays (:class:`Cells`). What a vector is beyond its centre is kept as one bit per dimension and two numbers
that correct the estimate (RaBitQ; Gao & Long, "RaBitQ: quantizing high-dimensional vectors with a theoretical
error bound", SIGMOD 2024). A query reads the cells whose centres are closest to it, and what it finds
there is compared anew by its caller, from bytes and then from float32, as after a scan of sign bits. faiss
does the work (Douze et al., "The Faiss library", 2024); it is an extra (``pip install 'memorata[ann]'``),
loaded when a namespace needs it, and without it sign bits are scanned.

A selective filter does not suit an approximate search: then :meth:`Approximate.slots` returns None, as it
does when the cells hold too few allowed vectors, and the caller compares all allowed ones.
"""

from __future__ import annotations

import importlib.util
import math
import struct
import zlib
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.codes import Floats, Owners
from memorata.model.errors import IndexCorrupt, MissingExtra

APPROXIMATE_FROM: Final = 100_000
"""Default number of vectors from which on a namespace gets an approximate index."""
PROBES: Final = 64
"""Cells that are read for a query without a filter."""
MIN_SHORTLIST: Final = 400
"""Least number of vectors that are compared again."""
MIN_ALLOWED_SHARE: Final = 0.5
"""A filter that passes a smaller share is left to the scan. Where vectors lie evenly in all
directions, the closest of few may lie in any cell: of 100,000 made-up ones, of which 30 % were allowed, the
scan found .94 of the fifty closest and the index .88. On embeddings of texts the index found more than the
scan at every share that was measured."""
REQUIREMENT: Final = "'memorata[ann]'"
"""The argument of ``pip install``."""

_CELL_SAMPLE: Final = 40
"""Vectors per cell that centres are chosen from."""
_ROUNDS: Final = 10
_QUERY_BITS: Final = 4
"""Bits per dimension of a query; with 8 the search takes a third longer and finds no more."""


def is_available() -> bool:
    """Return whether the library is installed; this does not load it."""
    return importlib.util.find_spec("faiss") is not None


def cell_count(vectors: int) -> int:
    """Return into how many cells to sort so many vectors: 2·√n, with at least 40 for each.

    >>> cell_count(1_000_000), cell_count(400), cell_count(3)
    (2000, 10, 1)
    """
    return max(1, min(2 * math.isqrt(vectors), vectors // _CELL_SAMPLE))


def sample_size(vectors: int) -> int:
    """Return how many of so many vectors the centres should be chosen from.

    >>> sample_size(1_000_000), sample_size(400)
    (80000, 400)
    """
    return min(vectors, _CELL_SAMPLE * cell_count(vectors))


def trained(sample: Floats, vectors: int) -> Cells:
    """Return empty cells for so many vectors, with centres chosen from a sample of them by k-means."""
    faiss = _library()
    dimension = sample.shape[1]
    cells = min(cell_count(vectors), max(1, len(sample) // _CELL_SAMPLE))
    index = _empty(np.zeros((0, dimension), np.float32), cells)
    index.cp.niter = _ROUNDS
    # Otherwise faiss warns on standard error about a small sample.
    index.cp.min_points_per_centroid = 1
    index.train(np.ascontiguousarray(sample, np.float32))
    centres = np.asarray(index.quantizer.reconstruct_n(0, cells), np.float32)
    sizes, slots = np.zeros(cells, np.int32), np.zeros(0, np.int32)
    return Cells(_maker(faiss), centres, sizes, slots, np.zeros((0, index.code_size), np.uint8), vectors, 0)


def extended(cells: Cells, blocks: Iterable[tuple[Owners, Floats]], until: int) -> Cells:
    """Return cells with more vectors in them, of slots before `until`; their centres stay."""
    index = _loaded(cells)
    for owners, rows in blocks:
        if len(owners):
            index.add_with_ids(np.ascontiguousarray(rows, np.float32), owners.astype(np.int64))
    faiss, lists = _library(), index.invlists
    sizes = np.array([lists.list_size(cell) for cell in range(index.nlist)], np.int32)
    slots = np.zeros(index.ntotal, np.int32)
    codes = np.zeros((index.ntotal, index.code_size), np.uint8)
    start = 0
    for cell, size in enumerate(sizes.tolist()):
        if size:
            slots[start : start + size] = faiss.rev_swig_ptr(lists.get_ids(cell), size)
            read = faiss.rev_swig_ptr(lists.get_codes(cell), size * index.code_size)
            codes[start : start + size] = read.reshape(size, -1)
        start += size
    return Cells(cells.maker, cells.centres, sizes, slots, codes, cells.trained, until)


class Approximate:
    """Cells, ready to be searched; a cached one is recognised by the number of its row."""

    def __init__(self, cells: Cells, number: int = 0) -> None:
        self.number = number
        self._index = _loaded(cells)
        self._cells = len(cells.sizes)
        self.nbytes = cells.nbytes
        self.covered = np.zeros(int(cells.slots.max(initial=-1)) + 2, np.bool_)
        """By slot, whether its vectors are in here; the last entry is for all later slots."""
        self.covered[cells.slots] = True

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def slots(self, query: Floats, count: int, mask: npt.NDArray[np.bool_] | None) -> Owners | None:
        """Return the slots, ascending, of about the `count` vectors that are closest to a query.

        The more a filter excludes, the more cells are read; None where it excludes too many.
        """
        faiss = _library()
        parameters = faiss.IVFRaBitQSearchParameters()
        parameters.qb, parameters.nprobe = _QUERY_BITS, min(PROBES, self._cells)
        if mask is not None:
            share = np.count_nonzero(mask) / max(1, mask.size)
            if share < MIN_ALLOWED_SHARE:
                return None
            parameters.nprobe = min(math.ceil(PROBES / share), self._cells)
            bitmap = np.packbits(mask, bitorder="little")
            # Both are only pointed to: they live as long as the names here do.
            selector = faiss.IDSelectorBitmap(bitmap)
            parameters.sel = selector
        _, nearest = self._index.search(np.ascontiguousarray(query[None, :]), count, params=parameters)
        slots: Owners = nearest[0].astype(np.int32)
        if slots.min() < 0:
            return None
        return np.unique(slots)


def _library() -> ModuleType:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("The approximate search of vectors", REQUIREMENT) from error
    library: ModuleType = faiss
    return library


def _maker(faiss: ModuleType) -> str:
    """Return the library and version of codes; another minor version may make others."""
    return "faiss " + ".".join(str(faiss.__version__).split(".")[:2])


def _empty(centres: Floats, cells: int) -> Any:  # noqa: ANN401 - an index of faiss, which may be missing
    faiss = _library()
    around = faiss.IndexFlatIP(centres.shape[1])
    if len(centres):
        around.add(np.ascontiguousarray(centres))
    index = faiss.IndexIVFRaBitQ(around, centres.shape[1], cells, faiss.METRIC_INNER_PRODUCT)
    index.is_trained = bool(len(centres))
    return index


def _loaded(cells: Cells) -> Any:  # noqa: ANN401 - an index of faiss
    faiss = _library()
    if cells.maker != _maker(faiss):
        raise IndexCorrupt(f"the approximate index was made by {cells.maker}, and this is {_maker(faiss)}")
    index = _empty(cells.centres, len(cells.centres))
    if index.code_size != cells.codes.shape[1]:
        raise IndexCorrupt(f"the codes of the approximate index do not have {index.code_size} bytes each")
    start = 0
    ids, codes = cells.slots.astype(np.int64), np.ascontiguousarray(cells.codes)
    for cell, size in enumerate(cells.sizes.tolist()):
        if size:
            span = slice(start, start + size)
            index.invlists.add_entries(cell, size, faiss.swig_ptr(ids[span]), faiss.swig_ptr(codes[span]))
        start += size
    index.ntotal = start
    return index


_VERSION: Final = 1
_HEAD: Final = struct.Struct("<B15sIIIIIII")
"""Version, maker, checksum, cells, dimension, vectors, bytes of a code, trained, until."""
_MAKER_BYTES: Final = 15


@frozen(eq=False)
class Cells:
    """The vectors of a namespace, cell by cell; only the library that is their maker can read the codes."""

    maker: str
    centres: Floats
    sizes: Owners
    slots: Owners
    """The owners of the vectors, those of the first cell first; a slot may own several."""
    codes: npt.NDArray[np.uint8]
    trained: int
    """How many vectors there were when the centres were chosen."""
    until: int
    """Vectors of this slot and later ones are not in here."""

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(part.nbytes for part in (self.centres, self.sizes, self.slots, self.codes))

    def encoded(self) -> bytes:
        """Return the cells as bytes, with a version and a checksum."""
        parts = (self.centres, self.sizes, self.slots, self.codes)
        body = b"".join(part.tobytes() for part in parts)
        cells, dimension = self.centres.shape
        count, width = self.codes.shape
        maker = self.maker.encode("ascii")
        if len(maker) > _MAKER_BYTES:
            raise ValueError(f"the name of a maker has at most {_MAKER_BYTES} letters, not {self.maker!r}")
        numbers = (cells, dimension, count, width, self.trained, self.until)
        checksum = zlib.crc32(struct.pack("<15s6I", maker, *numbers) + body)
        return _HEAD.pack(_VERSION, maker, checksum, *numbers) + body

    @classmethod
    def decoded(cls, blob: bytes) -> Cells:
        """Return the cells that :meth:`encoded` wrote, or raise :class:`IndexCorrupt`."""
        if len(blob) < _HEAD.size:
            raise IndexCorrupt("the approximate index is cut short")
        version, maker, checksum, *numbers = _HEAD.unpack_from(blob)
        if version != _VERSION:
            raise IndexCorrupt(f"the approximate index has the unknown version {version}")
        cells, dimension, count, width, trained, until = numbers
        body = memoryview(blob)[_HEAD.size :]
        lengths = [4 * cells * dimension, 4 * cells, 4 * count, width * count]
        computed = zlib.crc32(body, zlib.crc32(struct.pack("<15s6I", maker, *numbers)))
        if len(body) != sum(lengths) or computed != checksum:
            raise IndexCorrupt("the approximate index does not match its checksum")
        ends = np.cumsum(lengths)
        result = cls(
            maker.rstrip(b"\0").decode("ascii"),
            np.frombuffer(body[: ends[0]], np.float32).reshape(cells, dimension),
            np.frombuffer(body[ends[0] : ends[1]], np.int32),
            np.frombuffer(body[ends[1] : ends[2]], np.int32),
            np.frombuffer(body[ends[2] :], np.uint8).reshape(count, width),
            trained,
            until,
        )
        if int(result.sizes.sum(dtype=np.int64)) != count or result.sizes.min(initial=0) < 0:
            raise IndexCorrupt("the cells of the approximate index do not add up")
        return result

    def without(self, slots: npt.NDArray[np.integer]) -> Cells:
        """Return the cells without what some slots own.

        >>> cells = Cells("any", np.zeros((2, 4), np.float32), np.array([2, 1], np.int32),
        ...               np.array([7, 8, 9], np.int32), np.zeros((3, 5), np.uint8), 3, 10)
        >>> left = cells.without(np.array([8]))
        >>> left.sizes.tolist(), left.slots.tolist()
        ([1, 1], [7, 9])
        """
        kept = ~np.isin(self.slots, slots)
        cell = np.repeat(np.arange(len(self.sizes)), self.sizes)
        sizes = np.bincount(cell[kept], minlength=len(self.sizes)).astype(np.int32)
        return replace(self, sizes=sizes, slots=self.slots[kept], codes=self.codes[kept])
