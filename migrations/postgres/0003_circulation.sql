-- Money in circulation: all credits from outside less all debits. Every credit and debit changes its only row, as its last lock.
-- Instances of the version before do not: when none of them runs any more, "hongbao migrate" counts it anew.
create table circulation (
    id     boolean primary key default true check (id), -- true: there is one row
    amount bigint not null
);

insert into circulation (amount)
select least(coalesce(sum(case kind when 'credit' then amount else -amount end), 0), 9223372036854775807)::bigint
from transfers where key is not null;
