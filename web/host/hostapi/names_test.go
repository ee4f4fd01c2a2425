package hostapi

import "testing"

func TestNames(t *testing.T) {
	for request, want := range map[string]bool{
		`{"user":"bob","amount":5}`: true, `{"members":["ann","bob"]}`: true, `{"user":"bob"`: true, `{"by":{"who":"bob" }}`: true,
		`{"bob":1}`: false, `{"bob" : "ann"}`: false, `{"user":"bobby"}`: false, `{"bob":"bob"}`: true, `{"text":"say \"bob\""}`: false, ``: false,
	} {
		if got := Names(request, "bob"); got != want {
			t.Errorf("%s names bob: %t, want %t", request, got, want)
		}
	}
}
