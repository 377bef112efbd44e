"""Draw `.claude-plugin/icon.png` with the standard library alone. Run by `just generate`.

The picture: a stack of three memory cards, the front one with a spark that links back to them.
"""

import math
import struct
import zlib
from pathlib import Path

SIZE = 512
ICON = Path(__file__).resolve().parent.parent / ".claude-plugin" / "icon.png"

Colour = tuple[float, float, float]
GROUND: Colour = (24, 28, 48)
CARDS: tuple[tuple[float, float, Colour], ...] = (
    (176, 150, (66, 78, 130)),
    (256, 230, (98, 122, 198)),
    (336, 310, (148, 178, 255)),
)
SPARK: Colour = (255, 206, 92)
SPARK_AT = (352.0, 318.0)


def rounded(x: float, y: float, half_w: float, half_h: float, radius: float) -> float:
    """Return the signed distance in pixels from a rounded box around the origin."""
    dx, dy = abs(x) - half_w + radius, abs(y) - half_h + radius
    return math.hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0) - radius


def over(below: Colour, above: Colour, distance: float) -> Colour:
    """Return `above` on `below` with a soft edge of one pixel where the distance is 0."""
    share = min(1.0, max(0.0, 0.5 - distance))
    return (
        below[0] + (above[0] - below[0]) * share,
        below[1] + (above[1] - below[1]) * share,
        below[2] + (above[2] - below[2]) * share,
    )


def star(x: float, y: float) -> float:
    """Return the signed distance in pixels from the four-pointed spark, nearly."""
    dx, dy = abs(x - SPARK_AT[0]) / 62, abs(y - SPARK_AT[1]) / 62
    return (math.sqrt(dx) + math.sqrt(dy) - 1) * 40


def pixel(x: float, y: float) -> tuple[int, int, int, int]:
    """Return one pixel's red, green, blue and alpha."""
    edge = rounded(x - SIZE / 2, y - SIZE / 2, SIZE / 2, SIZE / 2, 96)
    colour = GROUND
    for cx, cy, shade in CARDS:
        box = rounded(x - cx, y - cy, 108, 84, 26)
        colour = over(over(colour, GROUND, box - 12), shade, box)
    colour = over(colour, SPARK, star(x, y))
    alpha = round(255 * min(1.0, max(0.0, 0.5 - edge)))
    return round(colour[0]), round(colour[1]), round(colour[2]), alpha


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return one chunk of a PNG file."""
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def png() -> bytes:
    """Return the icon as a PNG file, byte for byte the same each time."""
    rows = bytearray()
    for y in range(SIZE):
        rows.append(0)
        for x in range(SIZE):
            rows.extend(pixel(x + 0.5, y + 0.5))
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 9))
    return b"\x89PNG\r\n\x1a\n" + parts + chunk(b"IEND", b"")


if __name__ == "__main__":
    ICON.write_bytes(png())
