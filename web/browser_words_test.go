package web_test

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"hongbao/redpacket"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// spoken are the words of each language by place: what they say of one and of many.
type spoken map[string]map[string][]string

// TestBrowserWords: what the page says is there in every language, nothing is named that is not there, and nothing is there
// that is never said.
func TestBrowserWords(t *testing.T) {
	words := pageWords(t)
	if len(words) < 2 {
		t.Fatalf("there are %d languages", len(words))
	}
	code := pageCode(t)
	all := map[string]bool{}
	for _, said := range words {
		for place := range said {
			all[place] = true
		}
	}
	for lang, said := range words {
		for _, place := range slices.Sorted(maps.Keys(all)) {
			switch text := strings.Join(said[place], "\n"); {
			case said[place] == nil:
				t.Errorf("%s: %s is missing", lang, place)
			case strings.TrimSpace(text) == "" || regexp.MustCompile(`undefined|NaN|\[object|=>`).MatchString(text):
				t.Errorf("%s: %s says %q", lang, place, text)
			}
		}
	}
	mustBeChinese(t, words["zh"])
	for _, place := range slices.Sorted(maps.Keys(all)) {
		if word, isError := strings.CutPrefix(place, "errors."); isError {
			if !isErrorWord(word) {
				t.Errorf("%s is of no error that there is", place)
			}
		} else if !code.says(place) {
			t.Errorf("%s is never said", place)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(code.asked)) {
		if pattern := placePattern(name); !slices.ContainsFunc(slices.Collect(maps.Keys(all)), pattern.MatchString) {
			t.Errorf("%s names %s, which is not there", code.asked[name], name)
		}
	}
	for _, word := range errorWords() {
		if !all["errors."+word] {
			t.Errorf("the error %s has no sentence", word)
		}
	}
}

// mustBeChinese: between Chinese letters stand Chinese signs; what is sent when no greeting was written is the server's.
func mustBeChinese(t *testing.T, said map[string][]string) {
	t.Helper()
	foreign := regexp.MustCompile(`\p{Han}[,:;!?()]|[,:;!?()]\p{Han}`)
	const greeting = "compose.usualGreeting"
	for place, texts := range said {
		if text := strings.Join(texts, "\n"); place != greeting && foreign.MatchString(text) {
			t.Errorf("%s says %q, with signs of another language", place, text)
		}
	}
	if !slices.Equal(said[greeting], []string{redpacket.DefaultGreeting}) {
		t.Errorf("%s is %q", greeting, said[greeting])
	}
}

// TestBrowserFormat runs what writes and reads money and times.
func TestBrowserFormat(t *testing.T) {
	runModules(t, appSite(t), "app/format")
}

func pageWords(t *testing.T) (words spoken) {
	t.Helper()
	tab := webtest.Browser(t).Tab(t)
	tab.Do(chromedp.Navigate(appSite(t)))
	return webtest.Ask[spoken](tab, `import('/test/app/words.js').then(({ flat }) => flat())`)
}

// errorWords are those of the wire, and those of the client's own errors.
func errorWords() (words []string) {
	for code := range wire.Code(5000) {
		if word := code.Word(); word != "" {
			words = append(words, word)
		}
	}
	return append(words, "unknown", "closed")
}

// isErrorWord tells whether errors may have such a word, alone or with the field that it is about, or be the end of a connection.
func isErrorWord(word string) bool {
	if code, isEnd := strings.CutPrefix(word, "closed_"); isEnd {
		return slices.Contains([]string{"3500", "3501", "3502", "3503", "3504"}, code)
	}
	return slices.ContainsFunc(errorWords(), func(known string) bool {
		field, ofField := strings.CutPrefix(word, known+"_")
		return word == known || ofField && isField(field)
	})
}

// isField tells whether a request has a field of that name.
func isField(name string) bool {
	requests := []any{wire.GuestRequest{}}
	for _, method := range wire.Methods {
		requests = append(requests, method.Request)
	}
	return slices.ContainsFunc(requests, func(request any) bool {
		return slices.ContainsFunc(reflect.VisibleFields(reflect.TypeOf(request)), func(f reflect.StructField) bool {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return field == name
		})
	})
}
