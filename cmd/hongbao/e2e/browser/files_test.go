package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"testing"

	"hongbao/web/wire"
)

// landscape returns a PNG of hills below a sky.
func landscape(t *testing.T, width, height int, sky color.RGBA) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		hill := height/2 + (x-width/3)*(x-width/3)*height/(3*width*width)
		for y := range height {
			c := color.RGBA{R: sky.R + uint8(40*y/height), G: sky.G + uint8(40*y/height), B: sky.B, A: 255}
			if y > hill {
				c = color.RGBA{R: 60, G: uint8(140 - 70*(y-hill)/height), B: 70, A: 255}
			}
			m.Set(x, y, c)
		}
	}
	var data bytes.Buffer
	if err := png.Encode(&data, m); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// upload brings a file to a room.
func (a *apiUser) upload(room, kind, name string, content []byte) (id string) {
	t := a.fixture.t
	t.Helper()
	begun := command[wire.FileState](a, "begin_file", wire.BeginFileRequest{Room: room, Kind: kind, Name: name, Size: int64(len(content))})
	address := a.fixture.server.URL.JoinPath("/v1/files", room, begun.File.ID)
	address.RawQuery = "offset=0"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address.String(), bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+a.Token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it is read
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("upload of %s: status %d: %s, error %v, want 200", name, response.StatusCode, answer, err)
	}
	return begun.File.ID
}

// addFiles sends an album and a document into a room, and a text for all of its members.
func (s *sample) addFiles(room string) {
	s.fixture.t.Helper()
	by := s.friends[0]
	var album []string
	for n, sky := range []color.RGBA{{R: 120, G: 170, B: 220, A: 255}, {R: 200, G: 120, B: 90, A: 255}, {R: 30, G: 40, B: 90, A: 255}} {
		album = append(album, by.upload(room, "picture", fmt.Sprint(n+1), landscape(s.fixture.t, 900-150*n, 600, sky)))
	}
	sent := command[wire.SendReply](by, "send", wire.SendRequest{Room: room, Key: newKey(), Text: s.in.caption, Files: album})
	s.picture = fmt.Sprintf("%d.%s", sent.Seq, album[1])
	document := by.upload(room, "file", s.in.document, []byte("1. everybody pays"))
	command[wire.SendReply](by, "send", wire.SendRequest{Room: room, Key: newKey(), Files: []string{document}})
	command[wire.SendReply](s.me, "send", wire.SendRequest{Room: room, Key: newKey(), Text: s.in.forAll, MentionAll: true})
}
