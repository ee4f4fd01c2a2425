// Command host is a back end that embeds hongbao, written from web/docs/server-api.md and events.md alone. It makes users and rooms,
// lets users chat and send packets, posts as the system, and reads every event by the cursor API. It writes each event that it gets
// as a line of JSON.
//
//	URLS      addresses of the server API, separated by commas; KEY opens them
//	OUT       file for the events
//	USERS     how many users to make, ROOMS how many rooms, WORKERS how many requests at once
//	SECONDS   how long to make traffic
//
// It prints "ready" when everything is made, and "done" after the traffic. It then reads events until it gets SIGTERM.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type api struct {
	urls    []string
	key     string
	current atomic.Int64
	client  http.Client
}

// call sends a request until it is answered with success or with an error that is not temporary. If an instance does not answer, call
// goes on with the next instance. After a temporary error it asks the same instance again.
func (a *api) call(ctx context.Context, verb, path, idempotency string, body, reply any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		which := a.current.Load()
		status, answer, err := a.once(ctx, a.urls[int(which)%len(a.urls)]+path, verb, idempotency, text)
		var failure struct {
			Error struct {
				Code      int    `json:"code"`
				Message   string `json:"message"`
				Temporary bool   `json:"temporary"`
			} `json:"error"`
		}
		switch {
		case err != nil:
			a.current.CompareAndSwap(which, which+1)
		case status == http.StatusOK:
			if reply == nil {
				return nil
			}
			return json.Unmarshal(answer, reply)
		case json.Unmarshal(answer, &failure) == nil && !failure.Error.Temporary:
			return fmt.Errorf("%s %s: %d %s", verb, path, status, answer)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (a *api) once(ctx context.Context, address, verb, idempotency string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, verb, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	res, err := a.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

type object = map[string]any

func main() {
	log.SetFlags(0)
	log.SetPrefix("host in Go: ")
	a := &api{urls: strings.Split(os.Getenv("URLS"), ","), key: os.Getenv("KEY"), client: http.Client{Timeout: 40 * time.Second}}
	a.client.Transport = &http.Transport{MaxIdleConnsPerHost: 64}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var reading sync.WaitGroup
	reading.Go(func() { a.read(ctx, os.Getenv("OUT")) })
	rooms, members := a.provision(ctx, number("USERS"), number("ROOMS"))
	fmt.Println("ready")
	a.traffic(ctx, rooms, members, time.Now().Add(time.Duration(number("SECONDS"))*time.Second))
	fmt.Println("done")
	reading.Wait()
}

func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
	return n
}

// provision makes users, 1,000 in a request, and rooms with some of them, and gives each owner money.
func (a *api) provision(ctx context.Context, users, rooms int) (ids []string, members [][]string) {
	names := make([]string, users)
	for i := range names {
		names[i] = fmt.Sprintf("go-%05d", i)
	}
	for from := 0; from < users; from += 1000 {
		var many []object
		for _, id := range names[from:min(from+1000, users)] {
			many = append(many, object{"user": id, "name": "Name of " + id})
		}
		must(a.call(ctx, "POST", "/v1/server/users", "", object{"users": many}, nil))
	}
	ids, members = make([]string, rooms), make([][]string, rooms)
	each(rooms, func(i int) {
		size := min(20, users/rooms)
		members[i] = names[i*size : (i+1)*size]
		var made struct {
			Room struct {
				ID string `json:"id"`
			} `json:"room"`
		}
		key := fmt.Sprint("go-room-", i)
		must(a.call(ctx, "POST", "/v1/server/rooms", key, object{"name": key, "ref": key, "kind": "private", "owner": members[i][0], "members": members[i][1:]}, &made))
		ids[i] = made.Room.ID
		must(a.call(ctx, "POST", "/v1/server/users/"+members[i][0]+"/credit", key, object{"amount": 1_000_000, "note": "welcome"}, nil))
	})
	return ids, members
}

// traffic lets workers send requests, in one room after the other, until the given time.
func (a *api) traffic(ctx context.Context, rooms []string, members [][]string, until time.Time) {
	var next atomic.Int64
	each(number("WORKERS"), func(int) {
		for time.Now().Before(until) && ctx.Err() == nil {
			n := int(next.Add(1))
			room, in := rooms[n%len(rooms)], members[n%len(rooms)]
			key, user := fmt.Sprint("go-", n), in[n%len(in)]
			as := func(user, command string, body object, reply any) {
				must(a.call(ctx, "POST", "/v1/server/as/"+user+"/"+command, "", body, reply))
			}
			switch n % 5 {
			case 0:
				must(a.call(ctx, "POST", "/v1/server/system/send", "", object{"room": room, "key": key, "text": "Notice " + key}, nil))
			case 1:
				var sent struct {
					Packet struct {
						ID string `json:"id"`
					} `json:"packet"`
				}
				as(in[0], "send_packet", object{"room": room, "key": key, "total": 100, "count": 2}, &sent)
				for _, grabber := range in[1:3] {
					as(grabber, "grab", object{"packet": sent.Packet.ID}, nil)
				}
			default:
				as(user, "send", object{"room": room, "key": key, "text": "Hello " + key, "mentions": []string{in[(n+1)%len(in)]}}, nil)
			}
		}
	})
}

// read reads events as a consumer whose position the server stores. It writes each event to the file before it stores the position.
func (a *api) read(ctx context.Context, file string) {
	out, err := os.Create(file)
	must(err)
	defer out.Close()
	after := ""
	must(a.call(ctx, "PUT", "/v1/server/consumers/go-host", "", object{"after": "oldest"}, nil))
	for ctx.Err() == nil {
		var page struct {
			Events []json.RawMessage `json:"events"`
			Next   string            `json:"next"`
		}
		query := "consumer=go-host"
		if after != "" {
			query = "after=" + url.QueryEscape(after)
		}
		if err := a.call(ctx, "GET", "/v1/server/events?limit=1000&wait_s=5&"+query, "", nil, &page); ctx.Err() != nil {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		lines := bufio.NewWriter(out)
		for _, e := range page.Events {
			lines.Write(append(e, '\n'))
		}
		must(lines.Flush())
		after = page.Next
		if len(page.Events) > 0 {
			if err := a.call(ctx, "PUT", "/v1/server/consumers/go-host", "", object{"after": after}, nil); err != nil && ctx.Err() == nil {
				log.Fatal(err)
			}
		}
	}
}

// each calls fn for 0 to n-1, at most WORKERS at once.
func each(n int, fn func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, number("WORKERS"))
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			fn(i)
		})
	}
	all.Wait()
}

func must(err error) {
	if err != nil && !strings.Contains(err.Error(), "context canceled") {
		log.Fatal(err)
	}
}
