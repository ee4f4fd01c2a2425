package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/draw"
	"image/gif"
	"io"
)

func remakeGIF(ctx context.Context, upload []byte) (Made, error) {
	frames, pixels, err := countFrames(upload)
	switch {
	case err != nil:
		return Made{}, err
	case frames > maxFrames:
		return Made{}, errFrames
	case pixels > maxPixels:
		return Made{}, errGIFPixels
	}
	g, err := gif.DecodeAll(&source{ctx, upload})
	if err != nil {
		return Made{}, err
	}
	made := Made{Type: typeGIF}
	made.Original, err = encoded(ctx, func(w io.Writer) error { return gif.EncodeAll(w, g) })
	if err != nil {
		return Made{}, err
	}
	return withPreviews(ctx, made, firstFrame(g))
}

// firstFrame returns what a GIF shows first: a frame may cover a part of the screen.
func firstFrame(g *gif.GIF) image.Image {
	frame := g.Image[0]
	screen := image.Rect(0, 0, g.Config.Width, g.Config.Height)
	if frame.Rect == screen {
		return frame
	}
	m := image.NewNRGBA(screen)
	draw.Draw(m, frame.Rect, frame, frame.Rect.Min, draw.Src)
	return m
}

// countFrames returns how many frames a GIF has, and how many pixels they have together. It decodes no pixels, and goes from block to block
// as image/gif does, so that both see the same frames.
func countFrames(upload []byte) (frames, pixels int, err error) {
	const extension, frame, trailer = 0x21, 0x2c, 0x3b
	b := blocks{bytes.NewBuffer(upload)}
	b.colours(b.take(13)[10])
	for {
		switch b.take(1)[0] {
		case extension:
			if !b.extension() {
				return 0, 0, errBroken
			}
		case frame:
			descriptor := b.take(9)
			b.colours(descriptor[8])
			b.take(1) // size of LZW codes
			b.skip()
			frames++
			pixels += int(binary.LittleEndian.Uint16(descriptor[4:])) * int(binary.LittleEndian.Uint16(descriptor[6:]))
		case trailer:
			return frames, pixels, nil
		default:
			return 0, 0, errBroken
		}
	}
}

// blocks goes through the blocks of a GIF. Beyond the end, it reads zeros: they end a list of blocks, and begin none.
type blocks struct{ *bytes.Buffer }

func (b blocks) take(n int) []byte {
	if taken := b.Next(n); len(taken) == n {
		return taken
	}
	return make([]byte, n)
}

// skip skips a list of blocks. A size of 0 ends it.
func (b blocks) skip() {
	for n := b.take(1)[0]; n > 0; n = b.take(1)[0] {
		b.take(int(n))
	}
}

// colours skips the table of colours that the flags of a descriptor announce.
func (b blocks) colours(flags byte) {
	if flags&0x80 != 0 {
		b.take(3 << (1 + flags&7))
	}
}

// extension skips an extension, and reports whether it is a known one.
func (b blocks) extension() bool {
	const text, control, comment, application = 0x01, 0xf9, 0xfe, 0xff
	switch b.take(1)[0] {
	case control:
		b.take(6)
		return true
	case text:
		b.take(13)
	case application:
		b.take(int(b.take(1)[0]))
	case comment:
	default:
		return false
	}
	b.skip()
	return true
}
