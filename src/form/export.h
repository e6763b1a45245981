/* export.h - the pieces of text that an exported network is made of; @ stands
 * for its name. */
#ifndef SP_FORM_EXPORT_H
#define SP_FORM_EXPORT_H

extern const char sp_export_guard[]; /* then the counts, then */
extern const char sp_export_header[];
extern const char sp_export_types[];
extern const char sp_export_finish[];
extern const char sp_export_one[];
extern const char sp_export_eight[];
extern const char sp_export_run[];

#endif
