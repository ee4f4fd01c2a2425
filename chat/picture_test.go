package chat

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"
)

// drawn returns a picture of one colour that is half transparent.
func drawn(side int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	for n := range side * side {
		m.Set(n%side, n/side, color.NRGBA{R: 200, G: 30, B: 40, A: 128})
	}
	return m
}

func asPNG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestNewPictureIsEncodedAnew uploads pictures with other bytes around them. What is stored must be a JPEG of the server's own.
func TestNewPictureIsEncodedAnew(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, drawn(160), nil); err != nil {
		t.Fatal(err)
	}
	hidden := []byte("<script>alert(1)</script> GPS 52.5 13.4")
	withComment := append([]byte{0xff, 0xd8, 0xff, 0xfe, 0, byte(len(hidden) + 2)}, hidden...)
	withComment = append(append(withComment, photo.Bytes()[2:]...), hidden...)
	for name, upload := range map[string][]byte{"JPEG": withComment, "PNG": append(asPNG(t, drawn(160)), hidden...)} {
		p, err := NewPicture(upload)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, kind, err := image.Decode(bytes.NewReader(p.Data))
		if err != nil || kind != "jpeg" || m.Bounds() != image.Rect(0, 0, 160, 160) || bytes.Contains(p.Data, []byte("script")) || bytes.Contains(p.Data, []byte("GPS")) {
			t.Errorf("%s: stored as %s, %v, %d bytes", name, kind, err, len(p.Data))
		}
		if len(p.Address()) != len("pictures/.jpg")+32 || !IsPicture(p.Address()) {
			t.Errorf("%s: the address is %q", name, p.Address())
		}
	}
	p, err := NewPicture(asPNG(t, drawn(160)))
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := image.Decode(bytes.NewReader(p.Data))
	if r, _, _, _ := m.At(80, 80).RGBA(); err != nil || r>>8 < 215 || r>>8 > 240 { // (200+255)/2
		t.Errorf("a transparent picture is not on white: red %d, %v", r>>8, err)
	}
}

// TestNewPictureRefuses uploads what must not be stored.
func TestNewPictureRefuses(t *testing.T) {
	var moving bytes.Buffer
	if err := gif.Encode(&moving, drawn(160), nil); err != nil {
		t.Fatal(err)
	}
	noise := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	for n := range noise.Pix {
		noise.Pix[n] = byte(rand.Uint32()) | 0x80
	}
	var noisy bytes.Buffer
	if err := jpeg.Encode(&noisy, noise, &jpeg.Options{Quality: 50}); err != nil {
		t.Fatal(err)
	}
	whole := asPNG(t, drawn(160))
	bomb := asPNG(t, image.NewGray(image.Rect(0, 0, 4*maxPictureSide, 4*maxPictureSide)))
	for name, c := range map[string]struct {
		upload []byte
		err    error
	}{
		"GIF":                    {moving.Bytes(), ErrBadRequest},
		"SVG":                    {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), ErrBadRequest},
		"no picture":             {[]byte("hello"), ErrBadRequest},
		"cut off":                {whole[:len(whole)/2], ErrBadRequest},
		"too small":              {asPNG(t, drawn(31)), ErrBadRequest},
		"too many pixels":        {bomb, ErrBadRequest},
		"not a square":           {asPNG(t, image.NewGray(image.Rect(0, 0, 160, 100))), ErrBadRequest},
		"too many bytes":         {make([]byte, MaxPictureUpload+1), ErrTooLong},
		"too many bytes as JPEG": {noisy.Bytes(), ErrTooLong},
	} {
		if len(c.upload) > MaxPictureUpload && c.err == ErrBadRequest {
			t.Fatalf("%s: the upload has %d bytes", name, len(c.upload))
		}
		if p, err := NewPicture(c.upload); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %d bytes; want %v", name, err, len(p.Data), c.err)
		}
	}
}
