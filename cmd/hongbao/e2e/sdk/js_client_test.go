package sdk

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/chromedp/chromedp"

	"hongbao/cmd/hongbao/e2e"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// jsClient is a client on a page.
type jsClient struct {
	page    *centrifugeJS
	id      int // on its page
	refresh func() (token string, err error)
	log     *eventLog
}

// answer is the result of a function of the page.
type answer struct {
	Reply   string      `json:"reply"`
	Refused *wire.Error `json:"refused"`
	Error   string      `json:"error"` // an error of the SDK itself
}

func (a answer) err() error {
	switch {
	case a.Refused != nil:
		return *a.Refused
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// callPage calls a function of the page for the client.
func callPage[Answer any](j *jsClient, function string, arguments ...any) Answer {
	j.page.t.Helper()
	list := e2e.JSON(append([]any{j.id}, arguments...)) // JSON is JavaScript
	return webtest.Ask[Answer](j.page.tab, fmt.Sprintf("driver.%s(...%s)", function, list))
}

func (j *jsClient) call(method, request string) ([]byte, error) {
	j.page.t.Helper()
	a := callPage[answer](j, "call", method, request)
	return []byte(a.Reply), a.err()
}

func (j *jsClient) flood(method, request string, refusals int) (all []error) {
	j.page.t.Helper()
	for _, a := range callPage[[]answer](j, "flood", method, request, refusals) {
		all = append(all, a.err())
	}
	return all
}

func (j *jsClient) send(data string) error {
	j.page.t.Helper()
	return callPage[answer](j, "send", data).err()
}

func (j *jsClient) native(command, channel string) wire.Error {
	j.page.t.Helper()
	var refused wire.Error
	if err := callPage[answer](j, "native", command, channel).err(); !errors.As(err, &refused) {
		j.page.t.Errorf("%s: error %v, want a refusal by the server", command, err)
	}
	return refused
}

// stall blocks the page with a synchronous request that a server does not answer until resume is called.
func (j *jsClient) stall() (resume func()) {
	j.page.t.Helper()
	began, resumed := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		close(began)
		<-resumed
	}))
	resume = sync.OnceFunc(func() {
		close(resumed)
		server.Close()
	})
	j.page.tab.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("driver.stall(%q)", server.URL)))
	select {
	case <-began:
	case <-time.After(10 * time.Second):
		resume()
		j.page.t.Fatal("the page did not begin the request that blocks it within 10s")
	}
	return resume
}
