package webtest

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// call sends a command of the Chrome DevTools protocol and returns its result.
func call[P, R any](v *Visitor, command cdp.Command[P, R], params P) (R, error) {
	return Try(v.Tab, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}

// mustCall is call for commands that cannot fail while the page is open. If one fails, it ends the test.
func mustCall[P, R any](v *Visitor, command cdp.Command[P, R], params P) R {
	v.tb.Helper()
	result, err := call(v, command, params)
	if err != nil {
		v.tb.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// callOn calls a JavaScript function with one object as "this" and the other as its argument.
func callOn[Value any](v *Visitor, this, other runtime.RemoteObjectID, function string) (value Value, err error) {
	got, err := call(v, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: function, ObjectID: this, Arguments: []*runtime.CallArgument{{ObjectID: other}}, ReturnByValue: new(true),
	})
	switch {
	case err != nil:
		return value, err
	case got.ExceptionDetails != nil:
		return value, errors.New(got.ExceptionDetails.Text)
	}
	return value, json.Unmarshal(got.Result.Value, &value)
}
