package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// pictureBody returns a request with a picture of one colour.
func pictureBody(t *testing.T, shade uint8) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(m, m.Bounds(), image.NewUniform(color.RGBA{R: shade, G: shade, B: shade, A: 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	noError(t, png.Encode(&b, m))
	return fmt.Sprintf(`{"picture":%q}`, base64.StdEncoding.EncodeToString(b.Bytes()))
}

// TestPictureBecomesTheAvatar uploads pictures, as a guest and as a user of the host. Others must see the address, which must serve a JPEG that
// browsers keep and never run. A picture that is replaced twice, or removed, must be gone.
func TestPictureBecomesTheAvatar(t *testing.T) {
	t.Parallel()
	h := newTestServer(t, withGuests).Handler()
	mei := mustAnswer[wire.GuestReply](t, ask(t, h, "POST", "/v1/guests", "", `{"name":"Mei"}`), 200)
	ann := goodToken(t, "ann")
	created := mustAnswer[wire.CreateRoomReply](t, ask(t, h, "POST", "/v1/commands/create_room", ann, `{"key":"r","name":"Hall","kind":"public"}`), 200)
	mustAnswer[wire.JoinReply](t, ask(t, h, "POST", "/v1/commands/join", mei.Token, fmt.Sprintf(`{"room":%q}`, created.Room.ID)), 200)
	set := func(token, body string) wire.User {
		t.Helper()
		return mustAnswer[wire.PictureReply](t, ask(t, h, "POST", "/v1/picture", token, body), 200).User
	}
	var addresses []string
	for n, token := range []string{ann, mei.Token} {
		user := set(token, pictureBody(t, uint8(n)))
		addresses = append(addresses, user.Avatar)
		r := ask(t, h, "GET", "/"+user.Avatar, "", "")
		data, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 200 || http.DetectContentType(data) != "image/jpeg" || r.Header.Get("Content-Type") != "image/jpeg" ||
			r.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") ||
			!strings.HasPrefix(r.Header.Get("Content-Security-Policy"), "default-src 'none'; sandbox") {
			t.Errorf("%s: %d %v %v", user.Avatar, r.StatusCode, r.Header, err)
		}
	}
	members := mustAnswer[wire.MembersReply](t, ask(t, h, "POST", "/v1/commands/members", ann, fmt.Sprintf(`{"room":%q}`, created.Room.ID)), 200)
	for _, m := range members.Members {
		if want := addresses[map[string]int{"ann": 0, mei.User.ID: 1}[m.User.ID]]; m.User.Avatar != want || m.User.Name == "" {
			t.Errorf("the members see %+v, want the avatar %s", m.User, want)
		}
	}
	second := set(mei.Token, pictureBody(t, 50)).Avatar
	third := set(mei.Token, pictureBody(t, 100)).Avatar
	status := func(address string) int { return ask(t, h, "GET", "/"+address, "", "").StatusCode }
	if status(addresses[1]) != 404 || status(second) != 200 || status(third) != 200 || status(addresses[0]) != 200 {
		t.Error("want the newest two pictures of the guest, and those of others")
	}
	kept := mustAnswer[wire.ProfileReply](t, ask(t, h, "POST", "/v1/guests/profile", mei.Token, fmt.Sprintf(`{"name":"Lan","avatar":%q}`, third)), 200)
	if kept.User.Avatar != third || status(third) != 200 {
		t.Errorf("with another name the avatar is %q, want %q", kept.User.Avatar, third)
	}
	mustAnswer[wire.ProfileReply](t, ask(t, h, "POST", "/v1/guests/profile", mei.Token, `{"avatar":"avatars/3.svg"}`), 200)
	if status(second) != 404 || status(third) != 404 {
		t.Error("pictures are left after the guest has chosen a drawn one")
	}
	if user := set(ann, `{"picture":""}`); user.Avatar != "" || status(addresses[0]) != 404 {
		t.Errorf("after the removal the avatar is %q, and the picture is served with status %d", user.Avatar, status(addresses[0]))
	}
	for _, name := range []string{"x.jpg", "00.jpg", strings.Repeat("0", 32) + ".jpg", strings.Repeat("0", 32) + ".svg", strings.Repeat("0", 32)} {
		if got := status("pictures/" + name); got != 404 {
			t.Errorf("%s: status %d, want 404", name, got)
		}
	}
}

// TestPictureIsRefused uploads pictures that a user may not have.
func TestPictureIsRefused(t *testing.T) {
	t.Parallel()
	h := newTestServer(t, withGuests).Handler()
	ann := goodToken(t, "ann")
	for body, message := range map[string]string{
		`{"picture":"<svg>"}`: "bad_request field=picture",
		`{"picture":"` + base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)) + `"}`: "bad_request field=picture",
		`{}`:            "bad_request field=picture",
		`{"picture":1}`: "bad_request field=picture",
		`{"picture":"` + strings.Repeat("AAAA", 11_000) + `"}`: "too_long field=picture",
	} {
		if got := mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/picture", ann, body), 400).Error.Message; got != message {
			t.Errorf("%.60s: %q, want %q", body, got, message)
		}
	}
	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/picture", "", pictureBody(t, 1)), 401)
	named := mint(t, auth.Claims{User: "ben", Avatar: "https://example.com/ben.png"}, time.Hour)
	mustAnswer[wire.ErrorBody](t, ask(t, h, "POST", "/v1/picture", named, pictureBody(t, 1)), 403)
}

// TestPictureRates uploads and reads pictures too often.
func TestPictureRates(t *testing.T) {
	t.Parallel()
	h := newTestServer(t, withRates, withoutRefill, withGuests).Handler()
	tooOften := func(what string, within int, ask func(n int) int) {
		t.Helper()
		for n := range within {
			if ask(n) == http.StatusTooManyRequests {
				return
			}
		}
		t.Errorf("%s: %d are not too many", what, within)
	}
	ann := goodToken(t, "ann")
	tooOften("uploads of a user", 11, func(n int) int {
		return ask(t, h, "POST", "/v1/picture", ann, pictureBody(t, uint8(n))).StatusCode
	})
	tooOften("uploads of the guests of an address", 31, func(n int) int {
		return ask(t, h, "POST", "/v1/picture", guestToken(t, fmt.Sprint("guest:", n)), pictureBody(t, uint8(n))).StatusCode
	})
	tooOften("reads", 501, func(int) int { return ask(t, h, "GET", "/pictures/x.jpg", "", "").StatusCode })
}
