package hook_test

import (
	"testing"

	"hongbao/store/enginetest"
	"hongbao/web/host/hook"
)

// TestAnswersAreLinear reads long answers of the host. The work must grow in proportion to the answer.
func TestAnswersAreLinear(t *testing.T) {
	for name, form := range map[string][2]string{"whole": {``, ``}, "reason": {`{"allow":false,"reason":"`, `"}`}, "data": {`{"allow":false,"data":{"a":"`, `"}}`}} {
		enginetest.Linear(t, name, func(text string) { _, _, _ = hook.ReadVerdict([]byte(form[0]+text+form[1]), question("send")) })
	}
}
