// png.mjs -- make screenshots small: 256 colours in a palette, and the best compression that zlib has.
//
// In:  an 8-bit PNG without interlacing, as browsers write them.
// Out: the same picture with the 256 colours that represent most of its pixels best; no dithering, so that areas stay flat.
import zlib from 'node:zlib';

const COLOURS = 256;

function chunksOf(png) {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const size = png.readUInt32BE(at);
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + size) });
    at += 12 + size;
  }
  return chunks;
}

const paeth = (a, b, c) => {
  const p = a + b - c, x = Math.abs(p - a), y = Math.abs(p - b), z = Math.abs(p - c);
  return x <= y && x <= z ? a : y <= z ? b : c;
};

/** The bytes of the pixels: undo the filter of each line. */
function pixelsOf(chunks, width, height, channels) {
  const raw = zlib.inflateSync(Buffer.concat(chunks.filter((c) => c.type === 'IDAT').map((c) => c.data)));
  const line = width * channels, out = Buffer.alloc(line * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (line + 1)];
    for (let x = 0; x < line; x++) {
      const left = x >= channels ? out[y * line + x - channels] : 0, up = y ? out[(y - 1) * line + x] : 0;
      const corner = y && x >= channels ? out[(y - 1) * line + x - channels] : 0;
      const estimate = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[y * line + x] = raw[y * (line + 1) + 1 + x] + estimate;
    }
  }
  return out;
}

/** [[colour, pixels]...] of the picture, colours as 0xRRGGBB. */
function countColours(pixels, channels) {
  const counts = new Map();
  for (let i = 0; i < pixels.length; i += channels) {
    const colour = (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return [...counts];
}

const channel = (colour, shift) => (colour >> shift) & 255;

/** Median cut: boxes of colours, the one with the most pixels times its extent split first. */
function paletteOf(colours) {
  const boxOf = (list) => {
    const extents = [16, 8, 0].map((shift) => {
      const values = list.map(([c]) => channel(c, shift));
      return { shift, extent: values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b)) };
    });
    const widest = extents.reduce((a, b) => (b.extent > a.extent ? b : a));
    return { list, ...widest, weight: widest.extent * Math.sqrt(list.reduce((sum, [, n]) => sum + n, 0)) };
  };
  const boxes = [boxOf(colours)];
  while (boxes.length < COLOURS) {
    const box = boxes.reduce((a, b) => (b.weight > a.weight ? b : a));
    if (box.extent === 0) break;
    const sorted = box.list.sort((a, b) => channel(a[0], box.shift) - channel(b[0], box.shift));
    const half = sorted.reduce((sum, [, n]) => sum + n, 0) / 2;
    let at = 0;
    for (let sum = 0; at < sorted.length - 1 && sum < half; at++) sum += sorted[at][1];
    at = Math.max(1, at);
    boxes.splice(boxes.indexOf(box), 1, boxOf(sorted.slice(0, at)), boxOf(sorted.slice(at)));
  }
  // A box becomes its most frequent colour, so that large areas keep theirs.
  return boxes.map(({ list }) => ({ list, colour: list.reduce((a, b) => (b[1] > a[1] ? b : a))[0] }));
}

const CRC = Int32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function chunk(type, data) {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  let crc = -1;
  for (const byte of out.subarray(4, 8 + data.length)) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  out.writeInt32BE(~crc, 8 + data.length);
  return out;
}

/** A PNG of 8 bits a sample; `colours`: its colour type, 2 for RGB, 3 for indexes in `palette`; `lines` with their filters. */
export function encode({ width, height, colours, lines, palette }) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, colours], 8);
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), ...(palette ? [chunk('PLTE', palette)] : []),
    chunk('IDAT', zlib.deflateSync(lines, { level: 9, memLevel: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

export function smaller(png) {
  const chunks = chunksOf(png), head = chunks[0].data;
  const width = head.readUInt32BE(0), height = head.readUInt32BE(4), channels = head[9] === 6 ? 4 : 3;
  const pixels = pixelsOf(chunks, width, height, channels), boxes = paletteOf(countColours(pixels, channels));
  const indexes = new Map(boxes.flatMap(({ list }, i) => list.map(([colour]) => [colour, i])));
  const lines = Buffer.alloc((width + 1) * height); // each begins with 0: no filter
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += channels) {
      lines[y * (width + 1) + 1 + x] = indexes.get((pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]);
    }
  }
  return encode({ width, height, colours: 3, lines, palette: Buffer.from(boxes.flatMap(({ colour }) => [channel(colour, 16), channel(colour, 8), channel(colour, 0)])) });
}
