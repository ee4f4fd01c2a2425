package client_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"hongbao/redpacket/proof"
	"hongbao/web/client"
	"hongbao/web/client/files"
	"hongbao/web/client/model"
	"hongbao/web/wire"
)

// brokenOnce is a transport whose first upload breaks after some bytes. Then it calls happen.
type brokenOnce struct {
	after  int64
	happen func()
	broken bool
}

func (b *brokenOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost && !b.broken {
		b.broken = true
		r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, b.after), failing{}))
		answer, err := http.DefaultTransport.RoundTrip(r)
		b.happen()
		return answer, err
	}
	return http.DefaultTransport.RoundTrip(r)
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the connection broke") }

// TestUploadSurvivesAKilledServer breaks the connection of an upload, and kills the server and starts it again. The upload must go on, and the file must
// be whole.
func TestUploadSurvivesAKilledServer(t *testing.T) {
	s := ownServer(t)
	ann := open(t, s.addr, "ann")
	room := room(t, ann)
	content := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	broken := &brokenOnce{after: 700_000, happen: func() { s.kill(); s.start() }}
	transfer := files.Transfer{
		Client: ann, Address: "http://" + s.addr, HTTP: &http.Client{Transport: broken},
		Token: func(context.Context) (string, error) { return token("ann", "", time.Hour), nil },
	}
	var sent []int64
	begin := wire.BeginFileRequest{Room: room, Kind: "file", Name: "numbers.txt", Size: int64(len(content))}
	f, err := transfer.Upload(t.Context(), begin, bytes.NewReader(content), func(n int64) { sent = append(sent, n) })
	if err != nil {
		t.Fatal(err)
	}
	if !broken.broken || sent[len(sent)-1] != int64(len(content)) || f.Size != int64(len(content)) {
		t.Errorf("uploaded %+v; progress ends at %d", f, sent[len(sent)-1])
	}
	for _, from := range []int64{0, 1_000_000} {
		body, err := transfer.Open(t.Context(), room, f.ID, "original", from)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		if err := errors.Join(err, body.Close()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, content[from:]) {
			t.Errorf("from %d: read %d bytes", from, len(got))
		}
	}
}

// TestRefusedUploadLeavesNothing uploads what is no picture, and cancels another upload.
func TestRefusedUploadLeavesNothing(t *testing.T) {
	ann := open(t, shared.addr, "uploader")
	room := room(t, ann)
	transfer := files.Transfer{
		Client: ann, Address: "http://" + shared.addr, Token: func(context.Context) (string, error) { return token("uploader", "", time.Hour), nil },
	}
	begin := wire.BeginFileRequest{Room: room, Kind: "picture", Size: 5}
	_, err := transfer.Upload(t.Context(), begin, strings.NewReader("<svg>"), nil)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Code != wire.CodeBadRequest || refused.Values["field"] != "file" {
		t.Errorf("got error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var id string
	transfer.HTTP = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		id = r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		cancel()
		return nil, ctx.Err()
	})}
	begin.Kind, begin.Name = "file", "a"
	if _, err := transfer.Upload(ctx, begin, strings.NewReader("<svg>"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if err := ann.Call(t.Context(), "file_state", wire.FileRequest{Room: room, File: id}, &wire.FileState{}); !errors.As(err, &refused) || refused.Code != wire.CodeNotFound {
		t.Errorf("after the cancellation: %v", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestDraw enters a draw as two users. Their receipts must fit, also after another grab, and the proof must have both and the winner.
func TestDraw(t *testing.T) {
	annID, bobID := unique(t, "ann"), unique(t, "bob")
	shared.credit(annID, 1000)
	ann, bob := open(t, shared.addr, annID), open(t, shared.addr, bobID, protobuf)
	id := room(t, ann, bob)
	sent := must[client.SentPacket](t)(ann.SendPacket(soon(t), client.NewPacket{Room: id, Total: 1000, Count: 1, Window: 3 * time.Second, Rest: "share"}))
	if sent.Packet.Window != 3*time.Second || sent.Packet.Rest != "share" {
		t.Errorf("sent %+v", sent.Packet)
	}
	var receipts []model.Receipt
	for n, c := range []*client.Client{ann, bob} {
		g := must[model.Grab](t)(c.Grab(soon(t), sent.Packet.ID, ""))
		if g.Outcome != model.EnteredDraw || g.Participants != n+1 || g.Receipt == nil {
			t.Fatalf("entered: %+v", g)
		}
		if again := must[model.Grab](t)(c.Grab(soon(t), sent.Packet.ID, "")); *again.Receipt != *g.Receipt {
			t.Errorf("entered again: %+v, before %+v", again, g)
		}
		receipts = append(receipts, *g.Receipt)
	}
	transfer := files.Transfer{
		Client: bob, Address: "http://" + shared.addr,
		Token: func(context.Context) (string, error) { return token(bobID, "", time.Hour), nil },
	}
	if _, err := transfer.Proof(t.Context(), sent.Packet.ID); !errors.Is(err, client.ErrConflict) {
		t.Errorf("the proof of an open draw: %v", err)
	}
	done := await(t, bob, func(e model.Entry) bool { return e.Kind == "packet_done" }).Body.(model.PacketDone)
	document := must[proof.Document](t)(transfer.Proof(t.Context(), sent.Packet.ID))
	keys := must[[]string](t)(transfer.ReceiptKeys(t.Context()))
	if findings, err := proof.Check(document); err != nil || done.State.Draw == nil || document.Waves[0].Root != done.State.Draw.Root || len(document.Waves[0].Winners) != 1 {
		t.Errorf("%+v, %v: %+v after %+v", findings, err, document, done)
	}
	public := must[[]byte](t)(hex.DecodeString(keys[len(keys)-1]))
	for n, user := range []string{annID, bobID} {
		r := receipts[n]
		if err := errors.Join(client.CheckReceipt(keys, sent.Packet, user, r), proof.CheckReceipt(public, document, client.ReceiptOf(r))); err != nil {
			t.Error(err)
		}
		for what, change := range map[string]func(*model.Receipt){
			"user":      func(r *model.Receipt) { r.User = receipts[1-n].User },
			"leaf":      func(r *model.Receipt) { r.Leaf = receipts[1-n].Leaf },
			"signature": func(r *model.Receipt) { r.Signature = receipts[1-n].Signature },
			"key":       func(r *model.Receipt) { r.Key = r.Leaf },
		} {
			forged := r
			change(&forged)
			if client.CheckReceipt(keys, sent.Packet, user, forged) == nil {
				t.Errorf("a receipt with another %s fits", what)
			}
		}
	}
}
