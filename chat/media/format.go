package media

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"

	"golang.org/x/image/webp"
)

// format is a format of uploads.
type format struct {
	config func(io.Reader) (image.Config, error)
	remake func(context.Context, []byte) (Made, error)
}

// formatOf returns the format that the first bytes of an upload show.
func formatOf(upload []byte) (format, error) {
	begins := func(magic string) bool { return bytes.HasPrefix(upload, []byte(magic)) }
	switch {
	case begins("\xff\xd8\xff"):
		return format{jpeg.DecodeConfig, remakeJPEG}, nil
	case begins("\x89PNG\r\n\x1a\n"):
		return format{png.DecodeConfig, remakePNG}, nil
	case begins("GIF87a"), begins("GIF89a"):
		return format{gif.DecodeConfig, remakeGIF}, nil
	case begins("RIFF") && len(upload) > 20 && string(upload[8:12]) == "WEBP":
		return format{webp.DecodeConfig, remakeWebP}, checkWebP(upload)
	}
	return format{}, refusedByBrand(upload)
}

// refusedByBrand returns why an upload of no known format is refused. The first box of HEIC and AVIF, ftyp, lists brands of 4 letters.
func refusedByBrand(upload []byte) error {
	brands := slices.Collect(slices.Chunk(fileType(upload), 4))
	has := func(names ...string) bool {
		return slices.ContainsFunc(brands, func(b []byte) bool { return slices.Contains(names, string(b)) })
	}
	switch {
	case has("avif", "avis"):
		return errAVIF
	case has("heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs", "mif1", "msf1"):
		return errHEIC
	}
	return errNotPicture
}

// checkWebP refuses animations, which the decoder does not know. It also refuses an upload that claims to be longer than it is: the decoder would
// allocate memory for that length.
func checkWebP(upload []byte) error {
	const animated = 1 << 1
	switch {
	case uint64(binary.LittleEndian.Uint32(upload[4:]))+8 > uint64(len(upload)):
		return errBroken
	case string(upload[12:16]) == "VP8X" && upload[20]&animated != 0:
		return errAnimatedWebP
	}
	return nil
}

// isDeep reports whether decoding takes more than 8 bytes for a pixel: 16 bits a channel of an interlaced PNG, four inks of a JPEG, or the coefficients
// of a progressive JPEG, which are 4 bytes a sample.
func isDeep(model color.Model, upload []byte) bool {
	switch model {
	case color.Gray16Model, color.RGBA64Model, color.NRGBA64Model, color.CMYKModel:
		return true
	}
	return isFullProgressive(upload)
}

func remakeJPEG(ctx context.Context, upload []byte) (Made, error) {
	m, err := jpeg.Decode(&source{ctx, upload})
	if err != nil {
		return Made{}, err
	}
	return still(ctx, turned(m, orientation(upload)), typeJPEG)
}

func remakePNG(ctx context.Context, upload []byte) (Made, error) {
	m, err := png.Decode(&source{ctx, upload})
	if err != nil {
		return Made{}, err
	}
	if isPhoto(m, upload) {
		return still(ctx, m, typeJPEG)
	}
	return still(ctx, m, typePNG)
}

// isPhoto reports whether a PNG is a photo, not a drawing or a screenshot: opaque, large, and hard to compress without loss. As PNG, screenshots
// have up to 0.2 bytes a pixel, and photos 1.2. As JPEG, a photo takes a seventh of these bytes and of the time (BenchmarkEncode).
func isPhoto(m image.Image, upload []byte) bool {
	const large = 1_000_000 // pixels
	pixels := m.Bounds().Dx() * m.Bounds().Dy()
	return pixels > large && len(upload) > pixels && isOpaque(m)
}

func remakeWebP(ctx context.Context, upload []byte) (Made, error) {
	m, err := webp.Decode(&source{ctx, upload})
	if err != nil {
		return Made{}, err
	}
	return still(ctx, m, previewType(m))
}
