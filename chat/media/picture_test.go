package media

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"hongbao/chat"
)

// decode decodes what Picture has made.
func decode(t testing.TB, mediaType string, data []byte) image.Image {
	t.Helper()
	decoders := map[string]func([]byte) (image.Image, error){
		typeJPEG: func(b []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(b)) },
		typePNG:  func(b []byte) (image.Image, error) { return png.Decode(bytes.NewReader(b)) },
		typeGIF:  func(b []byte) (image.Image, error) { return gif.Decode(bytes.NewReader(b)) },
	}
	decoder, ok := decoders[mediaType]
	if !ok {
		t.Fatalf("type %q", mediaType)
	}
	m, err := decoder(data)
	noError(t, err)
	return m
}

// sizeOf returns the size of a picture as text, and nothing of no picture.
func sizeOf(t testing.TB, mediaType string, data []byte) string {
	t.Helper()
	if data == nil {
		return ""
	}
	size := decode(t, mediaType, data).Bounds().Size()
	return fmt.Sprintf("%d×%d", size.X, size.Y)
}

// near reports whether two colours are the same but for what JPEG loses.
func near(a, b color.Color) bool {
	r1, g1, b1, a1 := a.RGBA()
	r2, g2, b2, a2 := b.RGBA()
	for _, pair := range [][2]uint32{{r1, r2}, {g1, g2}, {b1, b2}, {a1, a2}} {
		if max(pair[0], pair[1])-min(pair[0], pair[1]) > 16<<8 {
			return false
		}
	}
	return true
}

// wantCorners compares the colours in the middle of each quarter.
func wantCorners(t *testing.T, m image.Image, want ...color.NRGBA) {
	t.Helper()
	b := m.Bounds()
	for i, c := range want {
		x, y := b.Min.X+(2*(i%2)+1)*b.Dx()/4, b.Min.Y+(2*(i/2)+1)*b.Dy()/4
		if got := m.At(x, y); !near(got, c) {
			t.Errorf("quarter %d of %v is %v, want %v", i, b.Size(), got, c)
		}
	}
}

func TestPictureIsMadeInTypesAndSizes(t *testing.T) {
	grey := image.NewGray(image.Rect(0, 0, 400, 200))
	deep := image.NewRGBA64(image.Rect(0, 0, 40, 20))
	for i := range deep.Pix {
		deep.Pix[i] = 255
	}
	palette := image.NewPaletted(image.Rect(0, 0, 40, 20), color.Palette{red, green})
	webpWithAlpha := riff(webpChunk("VP8X", "\x10\x00\x00\x00\x0f\x00\x00\x0f\x00\x00") +
		webpChunk("ALPH", "\x00"+string(bytes.Repeat([]byte{128}, 256))) + string(lossyWebP()[12:]))
	for _, tt := range []struct {
		name                string
		upload              []byte
		mediaType, previews string
		sizes               [3]string
	}{
		{"a large JPEG", jpegOf(t, opaque(3000, 1500)), typeJPEG, typeJPEG, [3]string{"3000×1500", "1280×640", "320×160"}},
		{"a JPEG on end", jpegOf(t, opaque(500, 2000)), typeJPEG, typeJPEG, [3]string{"500×2000", "320×1280", "80×320"}},
		{"a JPEG that fits in the middle", jpegOf(t, opaque(1280, 1280)), typeJPEG, typeJPEG, [3]string{"1280×1280", "", "320×320"}},
		{"a JPEG one pixel too large", jpegOf(t, opaque(1281, 640)), typeJPEG, typeJPEG, [3]string{"1281×640", "1280×640", "320×160"}},
		{"a small JPEG", jpegOf(t, opaque(320, 200)), typeJPEG, typeJPEG, [3]string{"320×200", "", ""}},
		{"a grey JPEG", jpegOf(t, grey), typeJPEG, typeJPEG, [3]string{"400×200", "", "320×160"}},
		{"a progressive JPEG", progressive(3), typeJPEG, typeJPEG, [3]string{"64×64", "", ""}},
		{"a thin PNG", pngOf(t, opaque(3000, 1)), typePNG, typeJPEG, [3]string{"3000×1", "1280×1", "320×1"}},
		{"one pixel", pngOf(t, opaque(1, 1)), typePNG, typeJPEG, [3]string{"1×1", "", ""}},
		{"a transparent PNG", pngOf(t, transparent(1400, 700)), typePNG, typePNG, [3]string{"1400×700", "1280×640", "320×160"}},
		{"a PNG of 16 bits", pngOf(t, deep), typePNG, typeJPEG, [3]string{"40×20", "", ""}},
		{"a PNG with a palette", pngOf(t, palette), typePNG, typeJPEG, [3]string{"40×20", "", ""}},
		{"a photo as PNG", pngOf(t, photo(1200, 900)), typeJPEG, typeJPEG, [3]string{"1200×900", "", "320×240"}},
		{"a drawing as PNG", pngOf(t, opaque(1200, 900)), typePNG, typeJPEG, [3]string{"1200×900", "", "320×240"}},
		{"an opaque WebP", webpOf(400, 100, red), typeJPEG, typeJPEG, [3]string{"400×100", "", "320×80"}},
		{"a transparent WebP", webpOf(400, 100, color.NRGBA{200, 30, 30, 128}), typePNG, typePNG, [3]string{"400×100", "", "320×80"}},
		{"a WebP with loss", lossyWebP(), typeJPEG, typeJPEG, [3]string{"16×16", "", ""}},
		{"a WebP with loss and transparency", webpWithAlpha, typePNG, typePNG, [3]string{"16×16", "", ""}},
		{"a GIF", gifOf(t, image.Pt(400, 100), image.Rect(0, 0, 400, 100)), typeGIF, typeJPEG, [3]string{"400×100", "", "320×80"}},
		{"a GIF whose first frame leaves a margin", gifOf(t, image.Pt(400, 100), image.Rect(0, 0, 100, 100)), typeGIF, typePNG, [3]string{"100×100", "", "320×80"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			made, err := Picture(t.Context(), tt.upload)
			noError(t, err)
			if made.Type != tt.mediaType || made.PreviewType != tt.previews {
				t.Errorf("types %s and %s, want %s and %s", made.Type, made.PreviewType, tt.mediaType, tt.previews)
			}
			sizes := [3]string{
				sizeOf(t, made.Type, made.Original), sizeOf(t, made.PreviewType, made.Middle), sizeOf(t, made.PreviewType, made.Small),
			}
			if sizes != tt.sizes {
				t.Errorf("sizes %q, want %q", sizes, tt.sizes)
			}
			if made.Type != typeGIF && fmt.Sprintf("%d×%d", made.Width, made.Height) != sizes[0] {
				t.Errorf("Width and Height are %d and %d, want %s", made.Width, made.Height, sizes[0])
			}
		})
	}
}

func TestPictureKeepsColours(t *testing.T) {
	want := []color.NRGBA{red, green, blue, yellow}
	sees := append(slices.Clone(want[:3]), invisible)
	for _, tt := range []struct {
		name   string
		upload []byte
		want   []color.NRGBA
	}{
		{"JPEG", jpegOf(t, opaque(1600, 1300)), want},
		{"PNG", pngOf(t, opaque(1600, 1300)), want},
		{"a transparent PNG", pngOf(t, transparent(1600, 1300)), sees},
		{"WebP", webpOf(1600, 1300, red), []color.NRGBA{red, red, red, red}},
		{"GIF", gifOf(t, image.Pt(1600, 1300), image.Rect(0, 0, 1600, 1300), image.Rect(0, 0, 9, 9)), []color.NRGBA{red, red, red, red}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			made, err := Picture(t.Context(), tt.upload)
			noError(t, err)
			wantCorners(t, decode(t, made.Type, made.Original), tt.want...)
			wantCorners(t, decode(t, made.PreviewType, made.Middle), tt.want...)
			wantCorners(t, decode(t, made.PreviewType, made.Small), tt.want...)
		})
	}
}

func TestBlurHasAverageColoursOverWhite(t *testing.T) {
	white := color.NRGBA{255, 255, 255, 255}
	for _, tt := range []struct {
		m    image.Image
		want []color.NRGBA
	}{
		{opaque(640, 400), []color.NRGBA{red, green, blue, yellow}},
		{transparent(64, 40), []color.NRGBA{red, green, blue, white}},
		{corners(1, 1, invisible, invisible, invisible, red), []color.NRGBA{red, red, red, red}},
	} {
		made, err := Picture(t.Context(), pngOf(t, tt.m))
		noError(t, err)
		colours, err := base64.RawStdEncoding.DecodeString(made.Blur)
		noError(t, err)
		if len(colours) != 48 {
			t.Fatalf("Blur has %d bytes, want 48", len(colours))
		}
		for i := range 16 {
			c := color.NRGBA{colours[3*i], colours[3*i+1], colours[3*i+2], 255}
			if want := tt.want[i%4/2+i/8*2]; !near(c, want) {
				t.Errorf("part %d of %v is %v, want %v", i, tt.m.Bounds(), c, want)
			}
		}
	}
}

func TestPictureStoresNothingThatTheClientWrote(t *testing.T) {
	const secret = "SECRET 47.3769N <script>PK\x03\x04"
	animation := gifOf(t, image.Pt(40, 20), image.Rect(0, 0, 40, 20), image.Rect(0, 0, 40, 20))
	for name, upload := range map[string][]byte{
		"JPEG": append(afterHeader(jpegOf(t, opaque(400, 200)), 2,
			segment(markerAPP1, "Exif\x00\x00"+exif(binary.LittleEndian, 1)+secret),
			segment(markerAPP1, "http://ns.adobe.com/xap/1.0/\x00"+secret),
			segment(0xe2, "ICC_PROFILE\x00\x01\x01"+secret),
			segment(0xfe, secret)), secret...),
		"PNG": append(afterHeader(pngOf(t, opaque(400, 200)), 33,
			chunk("tEXt", "Comment\x00"+secret), chunk("eXIf", exif(binary.LittleEndian, 1)+secret), chunk("prVt", secret)), secret...),
		"GIF": append(afterHeader(animation, 13+3*4,
			"\x21\xfe"+string([]byte{byte(len(secret))})+secret+"\x00",
			"\x21\xff\x0bXMP DataXMP"+string([]byte{byte(len(secret))})+secret+"\x00"), secret...),
		"WebP": append(riff(string(webpOf(400, 200, red)[12:])+webpChunk("EXIF", secret)+webpChunk("XMP ", secret)), secret...),
	} {
		if !bytes.Contains(upload, []byte(secret)) {
			t.Fatalf("%s: the upload has no secret", name)
		}
		made, err := Picture(t.Context(), upload)
		noError(t, err)
		for _, stored := range [][]byte{made.Original, made.Middle, made.Small} {
			for _, word := range []string{"SECRET", "<script", "PK\x03", "Exif", "ICC_", "XMP"} {
				if bytes.Contains(stored, []byte(word)) {
					t.Errorf("%s: what is stored has %q", name, word)
				}
			}
		}
	}
}

func TestPictureRefuses(t *testing.T) {
	small := jpegOf(t, opaque(40, 20))
	sof2 := func(samples string) []byte { // of 5000×5000 pixels and three components
		return []byte("\xff\xd8" + segment(markerSOF2, "\x08\x13\x88\x13\x88\x03\x01"+samples+"\x00\x02\x11\x00\x03\x11\x00") + segment(markerSOS, ""))
	}
	cmyk := []byte("\xff\xd8" + segment(0xc0, "\x08\x13\x88\x13\x88\x04\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00") + segment(markerSOS, ""))
	for _, tt := range []struct {
		name   string
		upload []byte
		want   error
	}{
		{"nothing", nil, errNotPicture},
		{"text", []byte("hello, this is a text of some length"), errNotPicture},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`), errNotPicture},
		{"a picture behind other bytes", append([]byte("GIF"), small...), errNotPicture},
		{"RIFF without WebP", []byte("RIFF\x10\x00\x00\x00WAVEfmt 123456789"), errNotPicture},
		{"a film", box("ftyp", "isom\x00\x00\x00\x00isommp42"), errNotPicture},
		{"HEIC", box("ftyp", "heic\x00\x00\x00\x00mif1heic"), errHEIC},
		{"HEIC by a compatible brand", box("ftyp", "mif1\x00\x00\x00\x00mif1heix"), errHEIC},
		{"AVIF", box("ftyp", "avif\x00\x00\x00\x00mif1miaf"), errAVIF},
		{"AVIF by a compatible brand", box("ftyp", "mif1\x00\x00\x00\x00mif1avif"), errAVIF},
		{"animated WebP", riff(webpChunk("VP8X", "\x02\x00\x00\x00\x0f\x00\x00\x0f\x00\x00") + webpChunk("ANIM", "123456")), errAnimatedWebP},
		{"WebP that claims to be larger", append([]byte("RIFF\xff\xff\xff\x7f"), lossyWebP()[8:]...), errBroken},
		{"a JPEG without pixels", []byte("\xff\xd8" + segment(0xc0, "\x08\x00\x00\x00\x10\x01\x01\x11\x00") + segment(markerSOS, "")), errBroken},
		{"a large header of PNG", []byte(pngMagic + pngHeader(60_000, 60_000, 8)), errSide},
		{"one side too long", []byte(pngMagic + pngHeader(maxSide+1, 1, 8)), errSide},
		{"too many pixels", []byte(pngMagic + pngHeader(8000, 5001, 8)), errPixels},
		{"as many pixels as allowed, but no more", []byte(pngMagic + pngHeader(8000, 5000, 8)), errBroken},
		{"too many pixels of 16 bits", []byte(pngMagic + pngHeader(4000, 5001, 16)), errDeepPixels},
		{"too many pixels of CMYK", cmyk, errDeepPixels},
		{"too many pixels of a progressive JPEG", sof2("\x11"), errDeepPixels},
		{"a progressive JPEG with little colour", sof2("\x22"), errBroken},
		{"too many pixels of WebP", webpOf(8000, 5001, red), errPixels},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var err error
			if n := allocated(func() { _, err = Picture(t.Context(), tt.upload) }); n > 1<<20 {
				t.Errorf("Picture allocated %d bytes to refuse it", n)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("Picture: %v, want %v", err, tt.want)
			}
			var field *chat.FieldError
			if !errors.As(err, &field) || field.Field != "file" {
				t.Errorf("Picture: %v, want an error of the field file", err)
			}
		})
	}
}

// TestInflatedPNGStopsAtItsSize uploads chunks of pixels that inflate to far more than the header announces.
func TestInflatedPNGStopsAtItsSize(t *testing.T) {
	bomb := []byte(pngMagic + pngHeader(16, 16, 8) + chunk("IDAT", zlibOf(t, make([]byte, 32<<20))) + chunk("IEND", ""))
	var err error
	if n := allocated(func() { _, err = Picture(t.Context(), bomb) }); n > 1<<20 {
		t.Errorf("Picture allocated %d bytes", n)
	}
	if !errors.Is(err, errBroken) {
		t.Errorf("Picture: %v, want %v", err, errBroken)
	}
}

// TestDeadlineEndsDecoding uploads JPEGs of thousands of scans. Each scan of 11 bytes is a pass over all blocks.
func TestDeadlineEndsDecoding(t *testing.T) {
	bomb := progressive(20_000)
	patient := &readsLeft{Context: t.Context(), left: 1 << 30}
	_, err := Picture(patient, bomb)
	noError(t, err)
	if least := len(bomb) / readStep; patient.asked < least {
		t.Errorf("Picture asked %d times whether the deadline has passed, want at least %d", patient.asked, least)
	}
	for left := range 10 {
		ctx := &readsLeft{Context: t.Context(), left: left}
		if _, err := Picture(ctx, bomb); !errors.Is(err, errTooSlow) {
			t.Fatalf("Picture: %v, want %v", err, errTooSlow)
		}
		if ctx.asked > left+2 { // the one that fails, and the one that finds out why
			t.Errorf("Picture asked %d times whether the deadline has passed, which was so after %d", ctx.asked, left)
		}
	}
}

// TestDeadlineEndsEveryStep lets the deadline pass at each question whether it has.
func TestDeadlineEndsEveryStep(t *testing.T) {
	for name, upload := range samples(t) {
		whole := &readsLeft{Context: t.Context(), left: 1 << 30}
		_, err := Picture(whole, upload)
		noError(t, err)
		for left := range whole.asked {
			if _, err := Picture(&readsLeft{Context: t.Context(), left: left}, upload); !errors.Is(err, errTooSlow) {
				t.Fatalf("%s: Picture after %d of %d questions: %v, want %v", name, left, whole.asked, err, errTooSlow)
			}
		}
	}
}

func TestCancelledPictureMayBeRepeated(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Picture(ctx, jpegOf(t, opaque(40, 20))); !errors.Is(err, chat.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("Picture: %v, want %v because it was cancelled", err, chat.ErrUnavailable)
	}
}

// samples returns an upload of each kind.
func samples(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"JPEG":             withOrientation(jpegOf(t, opaque(330, 20)), 6),
		"progressive JPEG": progressive(3),
		"PNG":              pngOf(t, opaque(330, 20)),
		"transparent PNG":  pngOf(t, transparent(330, 20)),
		"GIF":              gifOf(t, image.Pt(330, 20), image.Rect(0, 0, 9, 9), image.Rect(3, 4, 9, 9)),
		"WebP":             webpOf(330, 20, red),
		"lossy WebP":       lossyWebP(),
	}
}

func TestTruncatedPictureIsRefused(t *testing.T) {
	for name, upload := range samples(t) {
		for n := range upload {
			_, err := makeAnew(t.Context(), upload[:n])
			if err == nil {
				t.Errorf("%s: the first %d of %d bytes were accepted", name, n, len(upload))
			}
		}
	}
}

// TestPictureSurvivesPanics has a decoder panic: the context stands for the hostile bytes.
func TestPictureSurvivesPanics(t *testing.T) {
	if _, err := Picture(panicking{t.Context()}, jpegOf(t, opaque(40, 20))); !errors.Is(err, errBroken) {
		t.Errorf("Picture: %v, want %v", err, errBroken)
	}
}

type panicking struct{ context.Context }

func (panicking) Err() error { panic("index out of range") }

func FuzzPicture(f *testing.F) {
	for _, upload := range samples(f) {
		f.Add(upload)
	}
	f.Fuzz(func(t *testing.T, upload []byte) {
		format, err := formatOf(upload)
		if err != nil {
			return
		}
		if config, err := format.config(bytes.NewReader(upload)); err != nil || config.Width*config.Height > 1<<18 {
			return // large pictures are slow
		}
		made, err := makeAnew(t.Context(), upload)
		if err != nil {
			return
		}
		if m := decode(t, made.Type, made.Original); made.Type != typeGIF && m.Bounds().Size() != image.Pt(made.Width, made.Height) {
			t.Errorf("made a picture of %v, and said %d×%d", m.Bounds(), made.Width, made.Height)
		}
		if len(made.Blur) != 64 {
			t.Errorf("Blur is %q", made.Blur)
		}
	})
}
