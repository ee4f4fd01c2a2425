package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hongbao/web/wire"
)

// SocketURL returns the WebSocket address that clients dial.
func (s *Server) SocketURL(protobuf bool) string {
	u := *s.URL
	u.Scheme, u.Path = "ws", "/v1/socket"
	if protobuf {
		u.RawQuery = "cf_protocol=protobuf"
	}
	return u.String()
}

// Post sends a request to /v1/<path>, with the token as bearer unless it is empty.
func (s *Server) Post(token, path string, request any) (status int, answer []byte, err error) {
	return s.ask(http.MethodPost, token, path, strings.NewReader(JSON(request)))
}

// Get reads /v1/<path> as Post writes it.
func (s *Server) Get(token, path string) (status int, answer []byte, err error) {
	return s.ask(http.MethodGet, token, path, http.NoBody)
}

func (s *Server) ask(method, token, path string, body io.Reader) (status int, answer []byte, err error) {
	r, err := http.NewRequest(method, s.URL.JoinPath("/v1", path).String(), body)
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// Guest signs in a new guest.
func (s *Server) Guest(name string) (guest wire.GuestReply) {
	s.t.Helper()
	_, answer, err := s.Post("", "guests", wire.GuestRequest{Name: name})
	if err == nil {
		err = json.Unmarshal(answer, &guest)
	}
	if err != nil || guest.Token == "" {
		s.t.Fatalf("sign in guest %q: answered %s, error %v, want a token", name, answer, err)
	}
	return guest
}

// OpsPage reads a page of the operator's listener.
func (s *Server) OpsPage(path string) (status int, text string) {
	s.t.Helper()
	status, text, err := s.TryOpsPage(path)
	NoError(s.t, err)
	return status, text
}

// TryOpsPage is OpsPage, but returns an error if there is no answer within 20 s. Any goroutine may call it.
func (s *Server) TryOpsPage(path string) (status int, text string, err error) {
	response, err := opsPages.Get(s.ops + path)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	page, err := io.ReadAll(response.Body)
	return response.StatusCode, string(page), err
}

// OpsStatus requests a page of the operator's listener with a token, and returns the status.
func (s *Server) OpsStatus(path, token string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.ops+path, nil)
	NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := opsPages.Do(r)
	NoError(s.t, err)
	NoError(s.t, response.Body.Close())
	return response.StatusCode
}

// opsPages is the HTTP client for pages of the operator's listener, of the server API and of hosts.
var opsPages = &http.Client{Timeout: 20 * time.Second}

// Ready returns the status of /readyz and the first line of its text. Without an answer it returns 0 and "".
func (s *Server) Ready() (status int, state string) {
	status, text, err := s.TryOpsPage("readyz")
	if err != nil {
		return 0, ""
	}
	state, _, _ = strings.Cut(text, "\n")
	return status, state
}

// IsReady reports whether /readyz says that all parts work.
func (s *Server) IsReady() bool {
	_, state := s.Ready()
	return state == "ready"
}

// Metric returns the value of a metric without labels.
func (s *Server) Metric(name string) float64 {
	s.t.Helper()
	_, page := s.OpsPage("metrics")
	for lines := bufio.NewScanner(strings.NewReader(page)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			NoError(s.t, err)
			return value
		}
	}
	s.t.Fatalf("%smetrics has no metric %s", s.ops, name)
	return 0
}

// HasMetric reports whether /metrics has a line, such as `name{label="x"} 1`.
func (s *Server) HasMetric(line string) bool {
	s.t.Helper()
	_, page := s.OpsPage("metrics")
	return strings.Contains(page, "\n"+line+"\n")
}
