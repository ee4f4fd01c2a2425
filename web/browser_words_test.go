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
	"hongbao/store/enginetest"
	"hongbao/web/webtest"
	"hongbao/web/wire"
)

// spoken holds, by language and path, the texts of the page: one, or one for singular and one for plural.
type spoken map[string]map[string][]string

// TestBrowserWords compares the texts with the code. Every language must have every text that the code mentions, and no
// text may be unused.
func TestBrowserWords(t *testing.T) {
	enginetest.Nightly(t, "page")
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

// mustBeChinese checks that Chinese texts use Chinese punctuation, and that the default greeting is the server's.
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

// TestBrowserFormat tests the functions that format and parse money and times.
func TestBrowserFormat(t *testing.T) {
	enginetest.Nightly(t, "page")
	runModules(t, appSite(t), "app/format")
}

func pageWords(t *testing.T) (words spoken) {
	t.Helper()
	tab := webtest.Browser(t).Tab(t)
	tab.Do(chromedp.Navigate(appSite(t)))
	return webtest.Ask[spoken](tab, `import('/test/app/words.js').then(({ flat }) => flat())`)
}

// errorWords returns the words of all errors of the wire and of the SDK.
func errorWords() (words []string) {
	for code := range wire.Code(5000) {
		if word := code.Word(); word != "" {
			words = append(words, word)
		}
	}
	return append(words, "unknown", "closed")
}

// fileCauses are the causes with which the server refuses a picture or a recording.
var fileCauses = []string{"format", "heic", "avif", "animated_webp", "broken", "slow"}

// isErrorWord reports whether a text is for an error: the error's word, the word with the name of a field, that with the cause of a refused file, or
// the reason of a close.
func isErrorWord(word string) bool {
	if code, isEnd := strings.CutPrefix(word, "closed_"); isEnd {
		return slices.Contains([]string{"3500", "3501", "3502", "3503", "3504", "3505"}, code)
	}
	return slices.ContainsFunc(errorWords(), func(known string) bool {
		field, ofField := strings.CutPrefix(word, known+"_")
		if cause, ofFile := strings.CutPrefix(field, "file_"); ofField && ofFile && slices.Contains(fileCauses, cause) {
			return true
		}
		return word == known || ofField && isField(field)
	})
}

// isField reports whether any request has a field of this name, or a room, or the list of limits, or it is a limit per day.
func isField(name string) bool {
	if slices.Contains([]string{"day_sent", "day_packets", "day_received"}, name) { // limits per day
		return true
	}
	requests := []any{wire.GuestRequest{}, wire.Limits{}, wire.Room{}}
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
