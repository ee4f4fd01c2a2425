package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"hongbao/chat"
	"hongbao/web/host/hostapi"
	"hongbao/web/wire/strict"
)

// DerivedKey returns a key for a command: a hash of a name and an idempotency key. With different names, the same idempotency key
// gives different results. A user that does not know both the name and the idempotency key cannot guess the result.
func DerivedKey(name, idempotency string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + idempotency))
	return "api:" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// decode decodes the data of a request strictly.
func decode(data []byte, into any) error {
	err := strict.Decode(data, into)
	var bad *strict.Error
	if errors.As(err, &bad) {
		return chat.BadField(bad.Field, bad.Reason)
	}
	return err
}

// compose returns the request as one JSON object: the fields of its body, then those of its path and query.
func compose(o hostapi.Operation, req *http.Request, body []byte) ([]byte, error) {
	query := req.URL.Query()
	if err := checkQuery(o, query); err != nil || o.Request == nil {
		return nil, err
	}
	kind := reflect.TypeOf(o.Request)
	members := map[string]json.RawMessage{}
	inBody := false
	for f := range kind.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inBody = inBody || !o.InPath(name) && !o.InQuery(name)
	}
	if inBody && len(body) > 0 {
		if err := json.Unmarshal(body, &members); err != nil {
			return nil, chat.BadField("data", "is not a JSON object")
		}
		if members == nil { // the body is null
			return nil, chat.BadField("data", "is null, and must be a JSON object")
		}
	}
	for f := range kind.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case o.InPath(name):
			value, err := url.PathUnescape(chi.URLParam(req, name))
			if err != nil {
				return nil, chat.BadField(name, "is not escaped as a part of a path")
			}
			members[name] = parameter(f.Type, value)
		case o.InQuery(name):
			delete(members, name)
			if values, ok := query[name]; ok {
				members[name] = parameter(f.Type, values[0])
			}
		}
	}
	data, err := json.Marshal(members)
	if err != nil {
		return nil, chat.BadField("data", "is not a JSON object")
	}
	return data, nil
}

// checkQuery refuses parameters that the operation does not have, those that are there more than once, and filters without a value: otherwise a
// faulty filter would return all. A cursor may be empty: the list then begins with the first page.
func checkQuery(o hostapi.Operation, query url.Values) error {
	known := o.Parameters()
	for name, values := range query {
		switch {
		case o.Path == "" || name == reasonParameter && len(values) == 1:
		case !slices.Contains(known, name):
			return chat.BadField(name, "is no parameter of this request; it has "+cmp.Or(strings.Join(known, ", "), "none"))
		case len(values) > 1:
			return chat.BadField(name, "is there more than once")
		case values[0] == "" && name != "after" && name != "next":
			return chat.BadField(name, "is empty: leave it out if it is not to count")
		}
	}
	return nil
}

// parameter returns a text of the path or the query as the JSON value of a field of this type. A text that is no number or
// boolean becomes a string, which the strict decoder refuses by the field's name.
func parameter(t reflect.Type, text string) json.RawMessage {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.String && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return quoted(text)
}

// quoted returns the text as a JSON string.
func quoted(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage(`null`)
	}
	return data
}

// recordedFields are the fields of a request that are stored with the act. Texts of users are not stored: the users may recall
// them later.
var recordedFields = []string{
	"user", "room", "packet", "file", "report", "kind", "owner", "role", "seq", "seconds", "until", "ban", "amount", "total", "count",
	"key", "no", "method", "users", "members", "announce", "frozen", "limits", "sent", "received", "packets", "id", "texts", "days",
}

// withoutTexts returns, for a list of users with their data, the list of their ids. It returns any other value unchanged.
func withoutTexts(value json.RawMessage) json.RawMessage {
	var users []struct {
		User string `json:"user"`
	}
	if json.Unmarshal(value, &users) != nil || len(users) == 0 {
		return value
	}
	ids := make([]string, len(users))
	for n, u := range users {
		ids[n] = u.User
	}
	text, err := json.Marshal(ids)
	if err != nil {
		return nil
	}
	return text
}

// recorded returns those fields of the data that are stored with the act, and the user for whom a command is called.
func recorded(user string, data []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	kept := map[string]json.RawMessage{}
	for _, name := range recordedFields {
		if value, ok := all[name]; ok {
			kept[name] = withoutTexts(value)
		}
	}
	if user != "" {
		kept[hostapi.For] = quoted(user)
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return text
}
