package browser

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/wire"
)

// fillRoom sends entries of several lengths, as the bearer of a token. Many are on their way at once, so their order is random; the one
// with the highest number comes last.
func (f *fixture) fillRoom(token, room string) {
	f.t.Helper()
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}, Timeout: time.Minute}
	send := func(n int64) error {
		text := fmt.Sprintf("Entry %d. %s", n, strings.Repeat("This and that. ", int(n*7%23)))
		return f.send(&client, token, wire.SendRequest{Room: room, Key: fmt.Sprint("entry-", n), Text: text})
	}
	var next atomic.Int64
	var all errgroup.Group
	for range 32 {
		all.Go(func() error {
			for n := next.Add(1); n < fastEntries; n = next.Add(1) {
				if err := send(n); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := all.Wait()
	if err == nil {
		err = send(fastEntries)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) send(client *http.Client, token string, request wire.SendRequest) error {
	r, err := http.NewRequest(http.MethodPost, f.server.URL.JoinPath("/v1/commands/send").String(), strings.NewReader(e2e.JSON(request)))
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
