package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"hongbao/store/loopback"
	"hongbao/web/user/auth"
	"hongbao/web/wire"
)

// controls lets a page of the tests control the real server (kill, start) and the proxy in front of it (cut, delay).
type controls struct {
	program *program
	line    *loopback.Proxy
}

func controlled(t *testing.T, origin string, mux *http.ServeMux) {
	t.Helper()
	p := startProgram(t, origin)
	line, err := loopback.StartProxy(p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	c := &controls{program: p, line: line}
	mux.HandleFunc("POST /control/{what}", func(w http.ResponseWriter, r *http.Request) {
		answer, err := c.do(r.PathValue("what"), r.URL.Query())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, answer)
	})
}

func (c *controls) do(what string, query url.Values) (answer any, err error) {
	on := query.Has("on")
	switch what {
	case "where":
		return map[string]string{"server": c.program.addr, "line": c.line.Addr()}, nil
	case "kill":
		c.program.kill()
	case "start":
		err = c.program.start()
	case "cut":
		c.line.Cut()
	case "swallow":
		c.line.Swallow(on)
	case "drop":
		c.line.DropReplies(on)
	case "token":
		seconds, err := strconv.Atoi(query.Get("seconds"))
		if err != nil {
			return nil, err
		}
		return programToken(query.Get("user"), "", time.Duration(seconds)*time.Second)
	case "credit":
		amount, err := strconv.ParseInt(query.Get("amount"), 10, 64)
		if err != nil {
			return nil, err
		}
		return nil, c.admin("credit", wire.AdjustRequest{User: query.Get("user"), Amount: amount, Key: fmt.Sprint(time.Now().UnixNano())})
	case "disconnect":
		err = c.admin("disconnect", wire.DisconnectRequest{User: query.Get("user")})
	default:
		err = fmt.Errorf("there is no %s", what)
	}
	return nil, err
}

// admin sends an admin command to the server.
func (c *controls) admin(what string, request any) error {
	body, err := wire.Marshal(request)
	if err != nil {
		return err
	}
	token, err := programToken("admin", auth.DefaultAdminScope, time.Hour)
	if err != nil {
		return err
	}
	post, err := http.NewRequest(http.MethodPost, "http://"+c.program.addr+"/v1/admin/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	post.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(post)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", what, response.Status)
	}
	return nil
}

func programToken(user, scope string, ttl time.Duration) (string, error) {
	now := time.Now()
	claims := jwt.MapClaims{"sub": user, "name": "Name of " + user, "scope": scope, "iat": now.Unix(), "exp": now.Add(ttl).Unix()}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(programSecret))
}
