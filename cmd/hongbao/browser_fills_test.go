package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hongbao/web/wire"
)

// fills a room with entries of several lengths.
func (s *salon) fills(who *afar, room string) {
	s.t.Helper()
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}, Timeout: time.Minute}
	var next atomic.Int64
	var all errgroup.Group
	for range 32 {
		all.Go(func() error {
			for {
				n := next.Add(1)
				if n > fastEntries {
					return nil
				}
				text := fmt.Sprintf("Entry %d. %s", n, strings.Repeat("This and that. ", int(n*7%23)))
				if err := s.send(&client, who.Token, wire.SendRequest{Room: room, Key: fmt.Sprint("entry-", n), Text: text}); err != nil {
					return err
				}
			}
		})
	}
	if err := all.Wait(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *salon) send(client *http.Client, token string, request wire.SendRequest) error {
	r, err := http.NewRequest(http.MethodPost, s.node.url.JoinPath("/v1/commands/send").String(), strings.NewReader(jsonText(request)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("send: %s", response.Status)
	}
	return nil
}
