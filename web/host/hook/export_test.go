package hook

import "hongbao/web/user/api"

// ReadVerdict reads an answer, for tests.
func ReadVerdict(text []byte, q api.Question) (api.Verdict, Outcome, error) { return verdict(text, q) }
