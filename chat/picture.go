package chat

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	_ "image/png" // pictures may be PNG
	"strings"
	"time"
)

// Limits of the pictures that users upload.
const (
	// PicturesKept is how many pictures of one user are stored: the present one, and an earlier one that messages still show.
	PicturesKept = 2
	// MaxPictureUpload is the largest upload in bytes.
	MaxPictureUpload = 32 << 10
	maxPictureBytes  = 16 << 10 // as it is stored
	minPictureSide   = 32       // pixels
	maxPictureSide   = 256
	pictureQuality   = 80
)

// pictureFolder begins the addresses of pictures, which are relative to the server.
const pictureFolder = "pictures/"

// pictureExtension ends the addresses of pictures.
const pictureExtension = ".jpg"

// Picture is a picture as it is stored: a JPEG that this server has encoded.
type Picture struct {
	Hash []byte // the first 16 bytes of SHA-256 of Data
	Data []byte
}

// Address returns the picture's address, relative to the server. Another picture has another address.
func (p Picture) Address() string {
	return pictureFolder + hex.EncodeToString(p.Hash) + pictureExtension
}

// IsPicture reports whether an avatar is the address of an uploaded picture.
func IsPicture(avatar string) bool { return strings.HasPrefix(avatar, pictureFolder) }

// NewPicture decodes an upload and encodes it again as a JPEG of at most maxPictureBytes. The JPEG does not have the metadata of
// the upload, such as where a photo was taken.
func NewPicture(upload []byte) (Picture, error) {
	if len(upload) > MaxPictureUpload {
		return Picture{}, pictureError(ErrTooLong, fmt.Sprintf("has more than %d bytes", MaxPictureUpload))
	}
	format, kind, err := image.DecodeConfig(bytes.NewReader(upload))
	switch {
	case err != nil || kind != "jpeg" && kind != "png":
		return Picture{}, pictureError(ErrBadRequest, "must be a JPEG or PNG")
	case format.Width != format.Height || format.Width < minPictureSide || format.Width > maxPictureSide:
		return Picture{}, pictureError(ErrBadRequest, fmt.Sprintf("must be a square of %d to %d pixels", minPictureSide, maxPictureSide))
	}
	decoded, _, err := image.Decode(bytes.NewReader(upload))
	if err != nil {
		return Picture{}, pictureError(ErrBadRequest, "cannot be decoded")
	}
	flat := image.NewRGBA(image.Rect(0, 0, format.Width, format.Height)) // JPEG has no transparency
	draw.Draw(flat, flat.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(flat, flat.Bounds(), decoded, decoded.Bounds().Min, draw.Over)
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, flat, &jpeg.Options{Quality: pictureQuality}); err != nil {
		return Picture{}, fmt.Errorf("encode a picture: %w", err)
	}
	if encoded.Len() > maxPictureBytes {
		return Picture{}, pictureError(ErrTooLong, fmt.Sprintf("has more than %d bytes as a JPEG", maxPictureBytes))
	}
	sum := sha256.Sum256(encoded.Bytes())
	return Picture{Hash: sum[:16], Data: encoded.Bytes()}, nil
}

func pictureError(err error, reason string) error {
	return &FieldError{Err: err, Field: "picture", Reason: reason}
}

// SetPicture stores an upload and makes it the user's avatar. An empty upload removes the user's pictures and the avatar.
// issued is the time at which the user's token was issued. The token must not have an avatar. If the token is refused,
// SetPicture returns ErrRevoked or ErrSuspended.
func (s *Service) SetPicture(ctx context.Context, u User, issued time.Time, upload []byte) (User, error) {
	if len(upload) == 0 {
		u.Avatar = ""
		began := s.now()
		if err := s.setAvatar(ctx, u, issued); err != nil {
			return User{}, err
		}
		return u, s.store.DeletePictures(ctx, u.ID, began)
	}
	p, err := NewPicture(upload)
	if err != nil {
		return User{}, err
	}
	switch err := s.store.PutPicture(ctx, u.ID, issued.Unix(), p, s.now()); {
	case errors.Is(err, ErrNotFound):
		return User{}, ErrRevoked
	case err != nil:
		return User{}, err
	}
	u.Avatar = p.Address()
	return u, s.setAvatar(ctx, u, issued)
}

// setAvatar stores another avatar of the user, and makes the other instances forget the earlier one.
func (s *Service) setAvatar(ctx context.Context, u User, issued time.Time) error {
	if _, err := s.Admit(ctx, Profile{User: u, KeepName: true}, issued); err != nil {
		return err
	}
	s.pub.StandingChanged("", u.ID)
	return nil
}

// ReplacePicture is SetProfile for a user whose avatar is an uploaded picture, and deletes the pictures that the user uploaded before. A picture that is
// uploaded at the same time stays: the user's avatar may be that one in the end.
func (s *Service) ReplacePicture(ctx context.Context, u User, issued time.Time) error {
	began := s.now()
	if err := s.SetProfile(ctx, u, issued); err != nil {
		return err
	}
	return s.store.DeletePictures(ctx, u.ID, began)
}

// Picture returns the JPEG whose address (Picture.Address) ends with this file name; ErrNotFound if there is none.
func (s *Service) Picture(ctx context.Context, name string) ([]byte, error) {
	text, ok := strings.CutSuffix(name, pictureExtension)
	hash, err := hex.DecodeString(text)
	if !ok || err != nil || len(hash) != 16 {
		return nil, ErrNotFound
	}
	return s.store.Picture(ctx, hash)
}
