package media

import (
	"image"
	"testing"

	"golang.org/x/image/draw"
)

// BenchmarkPicture makes a photo of 12 megapixels anew.
func BenchmarkPicture(b *testing.B) {
	upright := jpegOf(b, photo(4000, 3000))
	for name, upload := range map[string][]byte{"upright": upright, "turned": withOrientation(upright, 6)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				made, err := Picture(b.Context(), upload)
				noError(b, err)
				b.ReportMetric(float64(len(made.Original)+len(made.Middle)+len(made.Small)), "made-B")
			}
		})
	}
}

// BenchmarkEncode encodes a photo of 3 megapixels in either format.
func BenchmarkEncode(b *testing.B) {
	m := photo(2000, 1500)
	for _, mediaType := range []string{typeJPEG, typePNG} {
		b.Run(mediaType, func(b *testing.B) {
			for b.Loop() {
				data, err := encodedAs(b.Context(), m, mediaType, originalQuality)
				noError(b, err)
				b.ReportMetric(float64(len(data))/(2000*1500), "B/pixel")
			}
		})
	}
}

// BenchmarkShrunk scales a photo of 12 megapixels to a middle preview, and does the same with CatmullRom.
func BenchmarkShrunk(b *testing.B) {
	m := photo(4000, 3000)
	b.Run("halves", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			shrunk(m, middleSide)
		}
	})
	b.Run("CatmullRom", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			out := image.NewRGBA(image.Rect(0, 0, 1280, 960))
			draw.CatmullRom.Scale(out, out.Rect, m, m.Rect, draw.Src, nil)
		}
	})
}
