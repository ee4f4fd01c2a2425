package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hongbao/web/host/hostapi"
	"hongbao/web/wire"
	"hongbao/web/wire/strict"
)

// TestSizesAreThoseOfTheCode compares the table of sizes in limits.md with wire.Limits and its defaults.
func TestSizesAreThoseOfTheCode(t *testing.T) {
	page := readText(t, filepath.Join("protocol", "limits.md"))
	same(t, "limits.md: the table of sizes", tableFields(page, "| limit |"), fieldNames(reflect.TypeFor[wire.Limits]()))
	text, err := json.Marshal(wire.DefaultLimits())
	noError(t, err)
	var defaults map[string]int
	noError(t, json.Unmarshal(text, &defaults))
	for name, value := range defaults {
		if row := fmt.Sprintf("| `%s` | %d |", name, value); !strings.Contains(page, row) {
			t.Errorf("limits.md has no row %q", row)
		}
	}
}

// TestEveryOperationIsOnAPage checks that a page names the path of each operation of the server API that is not a command, or has an
// example of it.
func TestEveryOperationIsOnAPage(t *testing.T) {
	pages := readText(t, "server-api.md") + readText(t, "events.md")
	for _, o := range hostapi.Operations() {
		path := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(o.Path), `[^/\s]+`)
		last := "…" + o.Path[strings.LastIndex(o.Path, "/"):]
		if o.Command == "" && !regexp.MustCompile(path+`\b`).MatchString(pages) && !strings.Contains(pages, last) {
			t.Errorf("neither server-api.md nor events.md names %s %s", o.Verb, o.Path)
		}
	}
}

// TestExamplesAreReal checks that each JSON example in the pages is a golden frame, or a request that the server
// accepts.
func TestExamplesAreReal(t *testing.T) {
	golden := slices.Collect(maps.Values(goldenFrames(t)))
	httpError, err := json.Marshal(wire.ErrorBody{Error: wire.NewError(wire.CodeMuted)})
	noError(t, err)
	found, err := filepath.Glob(filepath.Join("protocol", "*.md"))
	noError(t, err)
	requests := 0
	for _, page := range found {
		for _, example := range examples(readText(t, page)) {
			if slices.Contains(golden, example) || example == string(httpError) {
				continue
			}
			requests++
			if err := checkRequest(example); err != nil {
				t.Errorf("%s: %v: %s", page, err, example)
			}
		}
	}
	if requests < len(wire.Methods) {
		t.Errorf("%d requests are shown, want one of each of the %d commands at least", requests, len(wire.Methods))
	}
}

// checkRequest decodes a frame of a client as the server does. It also fails on field names that the server would
// ignore.
func checkRequest(frame string) error {
	var command struct {
		ID  uint32 `json:"id"`
		RPC *struct {
			Method string          `json:"method"`
			Data   json.RawMessage `json:"data"`
		} `json:"rpc"`
		Connect *struct {
			Token   string `json:"token"`
			Name    string `json:"name"`
			Version string `json:"version"`
			Subs    map[string]struct {
				Recover bool   `json:"recover"`
				Epoch   string `json:"epoch"`
				Offset  uint64 `json:"offset"`
			} `json:"subs"`
		} `json:"connect"`
		Refresh *struct {
			Token string `json:"token"`
		} `json:"refresh"`
		Send *struct {
			Data json.RawMessage `json:"data"`
		} `json:"send"`
	}
	if err := decodeStrictly([]byte(frame), &command); err != nil {
		return err
	}
	switch {
	case command.RPC != nil:
		for _, m := range wire.Methods {
			if m.Name == command.RPC.Method {
				return decodeAsServer(command.RPC.Data, m.Request)
			}
		}
		return fmt.Errorf("there is no command %q", command.RPC.Method)
	case command.Send != nil:
		var typing wire.TypingSend
		if err := decodeStrictly(command.Send.Data, &typing); err != nil {
			return err
		}
		return decodeAsServer(typing.Typing, wire.TypingRoom{})
	case command.Connect == nil && command.Refresh == nil:
		return fmt.Errorf("it is neither a golden frame nor a request")
	}
	return nil
}

func decodeAsServer(data []byte, request any) error {
	into := reflect.New(reflect.TypeOf(request)).Interface()
	if err := strict.Decode(data, into); err != nil {
		return err
	}
	return decodeStrictly(data, into)
}

func decodeStrictly(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// goldenFrames returns the golden JSON frames by file name.
func goldenFrames(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "wire", "testdata", "*.json"))
	noError(t, err)
	frames := map[string]string{}
	for _, file := range files {
		frames[filepath.Base(file)] = strings.TrimSpace(readText(t, file))
	}
	if len(frames) < 40 {
		t.Fatalf("found only %d golden frames", len(frames))
	}
	return frames
}

// examples returns the JSON blocks of a page, without insignificant space.
func examples(text string) (all []string) {
	for _, m := range regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(m[1])); err != nil {
			compact.WriteString(m[1])
		}
		all = append(all, compact.String())
	}
	return all
}

// tableFields returns the names in the first column of the table whose header begins so.
func tableFields(text, header string) (fields []string) {
	_, table, _ := strings.Cut(text, header)
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			fields = append(fields, names(cells[1])...)
		}
	}
	return fields
}

// names returns the words that are in code font, without the mark for optional fields.
func names(text string) (all []string) {
	for _, m := range regexp.MustCompile("`([a-z0-9_]+)\\??`").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

func fieldNames(kind reflect.Type) (all []string) {
	for field := range kind.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

// same compares two sets of names and reports the differences.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the page has %q, the code %q", what, got, want)
	}
}
