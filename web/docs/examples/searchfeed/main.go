// Command searchfeed is an example of a host that searches in an engine of its own: it keeps an index of Meilisearch up to date with all texts. It
// needs a key of the server API with the scopes read and chat, and HONGBAO_EVENTS with message.* and room.deleted:
//
//	KEY=… go run ./web/docs/examples/searchfeed http://127.0.0.1:8082 http://127.0.0.1:7700
//
// It was tested with a server that records the requests, and not with Meilisearch itself. See web/docs/events.md.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// event is the part of an event that the feed needs.
type event struct {
	Type string
	Data struct {
		Room, User string
		Entry      struct {
			Seq, At int64
			Kind    string
			Body    struct {
				Text     string
				Target   int64 // the text that was edited or recalled
				Recalled bool
			}
		}
	}
}

// document is a text in the index. Fields that are left out stay as they are there.
type document struct {
	ID   string `json:"id"`
	Room string `json:"room,omitempty"`
	User string `json:"user,omitempty"`
	Seq  int64  `json:"seq,omitempty"`
	At   int64  `json:"at,omitempty"`
	Text string `json:"text"`
}

// feed reads events from hongbao and writes documents to the index. Meilisearch carries requests out in their order, so each may be repeated.
type feed struct{ hongbao, key, index string }

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: KEY=… searchfeed URL-OF-THE-SERVER-API URL-OF-MEILISEARCH")
	}
	f := feed{os.Args[1], os.Getenv("KEY"), os.Args[2] + "/indexes/messages"}
	log.Fatal(f.run(context.Background()))
}

func (f feed) run(ctx context.Context) error {
	if err := f.write(ctx, "PUT", "/settings/filterable-attributes", []string{"room", "user", "at"}); err != nil {
		return err
	}
	var position struct{ After string }
	err := f.call(ctx, "GET", f.hongbao+"/v1/server/consumers/search", nil, &position)
	if err != nil && !errors.Is(err, errNotFound) {
		return err
	}
	after := cmp.Or(position.After, "oldest")
	for err = nil; err == nil; {
		after, err = f.round(ctx, after)
	}
	return err
}

// round puts the next events into the index, and then stores the position behind them.
func (f feed) round(ctx context.Context, after string) (next string, err error) {
	var page struct {
		Events []event
		Next   string
	}
	query := url.Values{"after": {after}, "kinds": {"message.*,room.deleted"}, "wait_s": {"20"}}
	if err := f.call(ctx, "GET", f.hongbao+"/v1/server/events?"+query.Encode(), nil, &page); err != nil {
		return "", err
	}
	for _, e := range page.Events {
		if err := f.apply(ctx, e); err != nil {
			return "", err
		}
	}
	return page.Next, f.call(ctx, "PUT", f.hongbao+"/v1/server/consumers/search", map[string]string{"after": page.Next}, nil)
}

func (f feed) apply(ctx context.Context, e event) error {
	entry, room := e.Data.Entry, e.Data.Room
	id := func(seq int64) string { return fmt.Sprintf("%s-%d", room, seq) }
	switch {
	case e.Type == "room.deleted":
		return f.write(ctx, "POST", "/documents/delete", map[string]string{"filter": fmt.Sprintf("room = %q", room)})
	case e.Type == "message.recalled":
		return f.write(ctx, "DELETE", "/documents/"+id(entry.Body.Target), nil)
	case e.Type == "message.edited" && !entry.Body.Recalled:
		return f.write(ctx, "PUT", "/documents", []document{{ID: id(entry.Body.Target), Text: entry.Body.Text}})
	case e.Type == "message.new" && entry.Kind == "text" && !entry.Body.Recalled:
		return f.write(ctx, "POST", "/documents", []document{{id(entry.Seq), room, e.Data.User, entry.Seq, entry.At, entry.Body.Text}})
	}
	return nil
}

func (f feed) write(ctx context.Context, verb, path string, body any) error {
	return f.call(ctx, verb, f.index+path, body, nil)
}

var errNotFound = errors.New("not found")

// call makes a request, with the key only to hongbao, and decodes the answer into reply.
func (f feed) call(ctx context.Context, verb, address string, body, reply any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var sent io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, verb, address, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if strings.HasPrefix(address, f.hongbao+"/") {
		request.Header.Set("Authorization", "Bearer "+f.key)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s %s: %w", verb, address, errNotFound)
	case response.StatusCode >= http.StatusMultipleChoices:
		return fmt.Errorf("%s %s: %s: %.200s", verb, address, response.Status, answer)
	case reply == nil:
		return nil
	}
	return json.Unmarshal(answer, reply)
}
