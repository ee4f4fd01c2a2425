package media

import (
	"context"
	"errors"
	"fmt"

	"hongbao/chat"
)

// Limits of a picture. They are checked before its pixels are decoded.
const (
	maxPixels     = 40_000_000 // of a GIF: in all frames together
	maxDeepPixels = 20_000_000 // if decoding takes more than 8 bytes for a pixel
	maxSide       = 16_384
	maxFrames     = 500 // of a GIF
)

// Made is a picture that was made anew from an upload. The previews of an animation show its first frame.
type Made struct {
	Type          string // of Original: image/jpeg, image/png or image/gif
	PreviewType   string // of Middle and Small: image/jpeg, or image/png if the picture is transparent somewhere
	Original      []byte // may have more bytes than the upload
	Middle        []byte // fits in 1280×1280; nil if Original does, because nothing is enlarged
	Small         []byte // fits in 320×320; nil if Original does
	Width, Height int    // of Original, in pixels
	Blur          string // a placeholder: 4×4 average colours over white, row by row, 3 bytes RGB each, in raw standard base64
}

// Reasons to refuse a picture.
var (
	errNotPicture   = refused("format", "must be a JPEG, PNG, GIF or WebP picture")
	errHEIC         = refused("heic", "is a HEIC picture, which is not supported: send it as JPEG")
	errAVIF         = refused("avif", "is an AVIF picture, which is not supported: send it as JPEG")
	errAnimatedWebP = refused("animated_webp", "is an animated WebP picture, which is not supported: send it as GIF")
	errBroken       = refused("broken", "is broken or incomplete: it cannot be decoded")
	errTooSlow      = refused("slow", "takes too long to decode")
	errSide         = tooLarge(maxSide, "has a side of more than 16384 pixels")
	errPixels       = tooLarge(maxPixels, "has more than 40 million pixels")
	errDeepPixels   = tooLarge(maxDeepPixels, "has more than 20 million pixels, the limit of pictures with 16 bits a channel, of CMYK and of progressive JPEG: send it as a plain JPEG")
	errGIFPixels    = tooLarge(maxPixels, "has more than 40 million pixels in all frames together")
	errFrames       = tooLarge(maxFrames, "has more than 500 frames")
)

// refused returns the error of an upload that is not supported, with its cause for clients.
func refused(cause, reason string) error {
	return &chat.FieldError{Err: chat.ErrBadRequest, Field: "file", Reason: reason, Cause: cause}
}

func tooLarge(limit int, reason string) error {
	return &chat.FieldError{Err: chat.ErrTooLong, Field: "file", Reason: reason, Limit: limit}
}

// Picture makes an uploaded JPEG, PNG, GIF or WebP picture anew. A WebP picture becomes a JPEG, or a PNG if it is transparent somewhere. A large photo
// in a PNG becomes a JPEG. The pixels of a JPEG are turned as its EXIF orientation says.
//
// If the upload is refused or the deadline of ctx passes, the error is a chat.FieldError of the field "file". If ctx is cancelled, the error wraps
// chat.ErrUnavailable. The largest pictures take 350 MB of memory and some seconds, so the caller bounds how many calls run at once.
func Picture(ctx context.Context, upload []byte) (made Made, err error) {
	defer func() {
		if recover() != nil { // a decoder met bytes that its author did not foresee
			made, err = Made{}, errBroken
		}
	}()
	made, err = makeAnew(ctx, upload)
	if err == nil {
		return made, nil
	}
	var refused *chat.FieldError
	switch ended := ctx.Err(); {
	case errors.As(err, &refused):
		return Made{}, err
	case errors.Is(ended, context.DeadlineExceeded):
		return Made{}, errTooSlow
	case ended != nil:
		return Made{}, fmt.Errorf("%w: decode a picture: %w", chat.ErrUnavailable, ended)
	}
	return Made{}, errBroken
}

// makeAnew is Picture without the translation of errors and panics.
func makeAnew(ctx context.Context, upload []byte) (Made, error) {
	f, err := formatOf(upload)
	if err != nil {
		return Made{}, err
	}
	config, err := f.config(&source{ctx, upload})
	if err != nil {
		return Made{}, err
	}
	switch pixels := config.Width * config.Height; {
	case config.Width < 1 || config.Height < 1:
		return Made{}, errBroken
	case max(config.Width, config.Height) > maxSide:
		return Made{}, errSide
	case pixels > maxPixels:
		return Made{}, errPixels
	case pixels > maxDeepPixels && isDeep(config.ColorModel, upload):
		return Made{}, errDeepPixels
	}
	return f.remake(ctx, upload)
}
