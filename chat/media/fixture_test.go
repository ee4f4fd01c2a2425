package media

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// photo returns a picture with large forms, edges and noise, as a camera takes it.
func photo(w, h int) *image.RGBA {
	random := rand.New(rand.NewPCG(1, 2))
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			u, v := float64(x)/float64(w), float64(y)/float64(h)
			light := 128 + 60*math.Sin(9*u+5*v) + 40*math.Cos(13*v-4*u*v)
			if (x/97+y/61)%5 == 0 {
				light -= 40
			}
			noise := random.NormFloat64() * 4
			channel := func(shade float64) uint8 { return uint8(min(255, max(0, light*shade+noise))) }
			m.SetRGBA(x, y, color.RGBA{channel(1), channel(0.5 + u/2), channel(0.4 + v/2), 255})
		}
	}
	return m
}

// Colours of the corners of a test picture.
var (
	red       = color.NRGBA{200, 30, 30, 255}
	green     = color.NRGBA{30, 180, 30, 255}
	blue      = color.NRGBA{30, 30, 200, 255}
	yellow    = color.NRGBA{220, 220, 40, 255}
	invisible = color.NRGBA{}
)

// corners returns a picture of four parts: top left, top right, bottom left, bottom right.
func corners(w, h int, colours ...color.NRGBA) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i, c := range colours {
		column, row := i%2, i/2
		part := image.Rect(column*w/2, row*h/2, (column+1)*w/2, (row+1)*h/2)
		draw.Draw(m, part, image.NewUniform(c), image.Point{}, draw.Src)
	}
	return m
}

func opaque(w, h int) *image.NRGBA      { return corners(w, h, red, green, blue, yellow) }
func transparent(w, h int) *image.NRGBA { return corners(w, h, red, green, blue, invisible) }

func jpegOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	noError(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

func pngOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	noError(t, png.Encode(&b, m))
	return b.Bytes()
}

// gifOf returns a GIF that repeats twice. Each frame shows the index 1, 2, 3, 1, … of a palette of red, green, blue; index 0 is transparent.
func gifOf(t testing.TB, screen image.Point, frames ...image.Rectangle) []byte {
	t.Helper()
	palette := color.Palette{invisible, red, green, blue}
	g := &gif.GIF{LoopCount: 1, Config: image.Config{ColorModel: palette, Width: screen.X, Height: screen.Y}}
	for i, r := range frames {
		m := image.NewPaletted(r, palette)
		for j := range m.Pix {
			m.Pix[j] = byte(1 + i%3)
		}
		g.Image, g.Delay, g.Disposal = append(g.Image, m), append(g.Delay, 10+i), append(g.Disposal, gif.DisposalBackground)
	}
	var b bytes.Buffer
	noError(t, gif.EncodeAll(&b, g))
	return b.Bytes()
}

// afterHeader puts parts of another size between the header of an upload and the rest.
func afterHeader(upload []byte, header int, parts ...string) []byte {
	joined := append([]byte{}, upload[:header]...)
	for _, p := range parts {
		joined = append(joined, p...)
	}
	return append(joined, upload[header:]...)
}

// segment returns a segment of a JPEG.
func segment(marker byte, content string) string {
	size := binary.BigEndian.AppendUint16(nil, uint16(len(content)+2))
	return "\xff" + string([]byte{marker}) + string(size) + content
}

// chunk returns a chunk of a PNG.
func chunk(name, content string) string {
	size := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(name+content)))
	return string(size) + name + content + string(sum)
}

const pngMagic = "\x89PNG\r\n\x1a\n"

// pngHeader returns the first chunk of a PNG of RGB.
func pngHeader(w, h uint32, depth byte) string {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return chunk("IHDR", string(size)+string([]byte{depth, 2, 0, 0, 0}))
}

func zlibOf(t testing.TB, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, err := w.Write(data)
	noError(t, err)
	noError(t, w.Close())
	return b.String()
}

// exif returns a TIFF header with one entry, the orientation.
func exif(order binary.AppendByteOrder, orientation uint16) string {
	b := []byte("II*\x00")
	if order == binary.AppendByteOrder(binary.BigEndian) {
		b = []byte("MM\x00*")
	}
	b = order.AppendUint32(b, 8) // where the directory begins
	b = order.AppendUint16(b, 1) // entries
	b = order.AppendUint16(b, 0x0112)
	b = order.AppendUint16(b, 3) // a short number
	b = order.AppendUint32(b, 1)
	b = order.AppendUint16(b, orientation)
	return string(append(b, 0, 0, 0, 0, 0, 0))
}

func withOrientation(upload []byte, orientation uint16) []byte {
	return afterHeader(upload, 2, segment(markerAPP1, "Exif\x00\x00"+exif(binary.BigEndian, orientation)))
}

// progressive returns a grey progressive JPEG of 64×64 pixels. Each of its scans says in one byte that all 64 blocks have no coefficients.
func progressive(scans int) []byte {
	noCodes := string(make([]byte, 15))
	b := "\xff\xd8" +
		segment(0xdb, "\x00"+string(bytes.Repeat([]byte{1}, 64))) +
		segment(markerSOF2, "\x08\x00\x40\x00\x40\x01\x01\x11\x00") +
		segment(0xc4, "\x00\x01"+noCodes+"\x00") + // code 0: the same as before
		segment(0xc4, "\x10\x01"+noCodes+"\x60") + // code 0: 64 blocks end, and as many more as the next 6 bits say
		segment(markerSOS, "\x01\x01\x00\x00\x00\x00") + string(make([]byte, 8))
	scan := segment(markerSOS, "\x01\x01\x00\x01\x3f\x00") + "\x01"
	return append([]byte(b), string(bytes.Repeat([]byte(scan), scans))+"\xff\xd9"...)
}

// riff returns a WebP file of chunks.
func riff(chunks string) []byte {
	return []byte("RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(4+len(chunks)))) + "WEBP" + chunks)
}

func webpChunk(name, content string) string {
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(content)))
	return name + string(size) + content + string(make([]byte, len(content)%2))
}

// webpOf returns a WebP picture without loss and of one colour. Each of its codes has one symbol, so that no pixel takes a bit.
func webpOf(w, h uint64, c color.NRGBA) []byte {
	var all uint64
	var length int
	b := []byte{0x2f}
	put := func(value uint64, bits int) {
		all, length = all|value<<length, length+bits
		for ; length >= 8; length -= 8 {
			b, all = append(b, byte(all)), all>>8
		}
	}
	put(w-1, 14)
	put(h-1, 14)
	put(1, 1) // with alpha
	put(0, 3) // version
	put(0, 3) // no transform, no cache of colours, no groups of codes
	for _, symbol := range []byte{c.G, c.R, c.B, c.A, 0} {
		put(0b101, 3) // a simple code, with one symbol, of 8 bits
		put(uint64(symbol), 8)
	}
	put(0, 8)
	return riff(webpChunk("VP8L", string(b)))
}

// lossyWebP returns a grey WebP picture of 16×16 pixels: all that its coded bits say is 0.
func lossyWebP() []byte {
	const first = 64 // bytes of the first partition
	tag := []byte{1<<4 | first<<5&0xff, first >> 3, 0}
	return riff(webpChunk("VP8 ", string(tag)+"\x9d\x01\x2a\x10\x00\x10\x00"+string(make([]byte, first+64))))
}

// readsLeft is a context whose deadline passes after so many questions whether it has.
type readsLeft struct {
	context.Context
	asked, left int
}

func (r *readsLeft) Err() error {
	r.asked++
	if r.asked > r.left {
		return context.DeadlineExceeded
	}
	return nil
}

// allocated returns how many bytes a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
