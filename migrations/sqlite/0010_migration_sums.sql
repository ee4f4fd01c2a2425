-- The SHA-256 of each migration, so that a changed file is noticed. Empty: applied by a version that stored none.
alter table schema_migrations add column sum text not null default '';
