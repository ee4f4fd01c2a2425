package media

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"slices"
	"strings"
	"testing"
)

func TestGIFKeepsItsAnimation(t *testing.T) {
	upload := gifOf(t, image.Pt(50, 40), image.Rect(0, 0, 50, 40), image.Rect(10, 5, 20, 30), image.Rect(0, 0, 1, 1))
	made, err := Picture(t.Context(), upload)
	noError(t, err)
	want, err := gif.DecodeAll(bytes.NewReader(upload))
	noError(t, err)
	got, err := gif.DecodeAll(bytes.NewReader(made.Original))
	noError(t, err)
	if got.LoopCount != want.LoopCount || !slices.Equal(got.Delay, want.Delay) || !bytes.Equal(got.Disposal, want.Disposal) {
		t.Errorf("loops, delays and disposals are %d, %v, %v, want %d, %v, %v", got.LoopCount, got.Delay, got.Disposal, want.LoopCount, want.Delay, want.Disposal)
	}
	for i, frame := range want.Image {
		if got.Image[i].Rect != frame.Rect || !bytes.Equal(got.Image[i].Pix, frame.Pix) || !slices.Equal(got.Image[i].Palette, frame.Palette) {
			t.Errorf("frame %d differs", i)
		}
	}
	if made.Width != 50 || made.Height != 40 {
		t.Errorf("the GIF has %d×%d pixels, want 50×40", made.Width, made.Height)
	}
}

// emptyFrames is the start of a GIF of 4096×4096 pixels, and so many frames of that size without data.
func emptyFrames(n int) []byte {
	return []byte("GIF89a\x00\x10\x00\x10\x00\x00\x00" + strings.Repeat("\x2c\x00\x00\x00\x00\x00\x10\x00\x10\x00\x02\x00", n) + "\x3b")
}

func TestGIFIsCountedBeforeItIsDecoded(t *testing.T) {
	dot := image.Rect(0, 0, 1, 1)
	for _, tt := range []struct {
		name   string
		upload []byte
		want   error
		most   uint64 // bytes to allocate
	}{
		{"500 frames", gifOf(t, dot.Max, slices.Repeat([]image.Rectangle{dot}, maxFrames)...), nil, 100 << 20},
		{"501 frames", gifOf(t, dot.Max, slices.Repeat([]image.Rectangle{dot}, maxFrames+1)...), errFrames, 1 << 20},
		{"33 million pixels without data", emptyFrames(2), errBroken, 20 << 20}, // one frame is decoded
		{"50 million pixels without data", emptyFrames(3), errGIFPixels, 1 << 20},
		{"no frame", emptyFrames(0), errBroken, 1 << 20},
	} {
		var err error
		if n := allocated(func() { _, err = Picture(t.Context(), tt.upload) }); n > tt.most {
			t.Errorf("%s: Picture allocated %d bytes, want at most %d", tt.name, n, tt.most)
		}
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: Picture: %v, want %v", tt.name, err, tt.want)
		}
	}
}

// oddGIFs have blocks that hide frames from a reader that does not follow them as image/gif does.
func oddGIFs(t testing.TB) map[string][]byte {
	upload := gifOf(t, image.Pt(2, 2), image.Rect(0, 0, 2, 2), image.Rect(0, 0, 2, 2))
	behindPalette := func(extension string) []byte { return afterHeader(upload, 13+3*4, extension) }
	return map[string][]byte{
		"plain":                               upload,
		"comment":                             behindPalette("\x21\xfe\x03abc\x00"),
		"control with a list":                 behindPalette("\x21\xf9\x04\x00\x01\x00\x00\x01x\x00"),
		"application of size 0":               behindPalette("\x21\xff\x00\x03\x2c\x2c\x2c\x00"),
		"application of another size":         behindPalette("\x21\xff\x02ab\x01\x2c\x00"),
		"looping without a number":            behindPalette("\x21\xff\x0bNETSCAPE2.0\x00"),
		"text whose size is wrong":            behindPalette("\x21\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x2c\x00"),
		"unknown extension":                   behindPalette("\x21\x77\x00"),
		"trailer in front":                    behindPalette("\x3b"),
		"bytes between blocks":                behindPalette("\x00"),
		"without an end":                      upload[:len(upload)-1],
		"extension that ends with the upload": append(upload[:len(upload)-1:len(upload)-1], "\x21\xfe\xff"...),
	}
}

func TestFramesAreCountedAsTheyAreDecoded(t *testing.T) {
	for name, upload := range oddGIFs(t) {
		t.Run(name, func(t *testing.T) { compareFrames(t, upload) })
	}
}

// compareFrames compares the frames that were counted with those that are decoded.
func compareFrames(t *testing.T, upload []byte) {
	t.Helper()
	g, err := gif.DecodeAll(bytes.NewReader(upload))
	if err != nil {
		return
	}
	pixels := 0
	for _, frame := range g.Image {
		pixels += len(frame.Pix)
	}
	if frames, counted, err := countFrames(upload); err != nil || frames != len(g.Image) || counted != pixels {
		t.Errorf("counted %d frames with %d pixels (%v), but image/gif has %d with %d", frames, counted, err, len(g.Image), pixels)
	}
}

func FuzzFrames(f *testing.F) {
	for _, upload := range oddGIFs(f) {
		f.Add(upload)
	}
	f.Fuzz(func(t *testing.T, upload []byte) {
		frames, pixels, err := countFrames(upload)
		if err == nil && frames <= maxFrames && pixels > 1<<20 {
			return // large pictures are slow
		}
		compareFrames(t, upload)
	})
}
