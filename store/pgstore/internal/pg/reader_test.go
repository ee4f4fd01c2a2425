package pg

import "testing"

func TestStatementOnCitus(t *testing.T) {
	for statement, want := range map[string]string{
		`select 1`: `select 1`,
		`where id = $1 /*! and bucket = bucket_of($1) */ for update`:           `where id = $1  and bucket = bucket_of($1)  for update`,
		`/*! with w as (x) select w */ /*one*/ select v /*end*/ from /*! y */`: ` with w as (x) select w   from  y `,
		`/*one*/ a /*end*/ b /*one*/ c /*end*/`:                                ` b `,
	} {
		if got := OnCitus(statement); got != want {
			t.Errorf("%q becomes %q, want %q", statement, got, want)
		}
	}
}
