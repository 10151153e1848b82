/* request_inside.h -- between request.c and the files with parts of a request. */
#ifndef MAKI_ASSEMBLE_REQUEST_INSIDE_H
#define MAKI_ASSEMBLE_REQUEST_INSIDE_H

#include "assemble/request.h"

/* request_tools.c: the fields with the tools and which to choose, when there are any. */
void maki_request_tools(maki_jw *w, const maki_request *request);
/* Must the model call a tool? */
bool maki_request_forces(const maki_request *request);

/* request_thinking.c: what a provider is told about thinking, as fields of the open object: for Gemini that
 * of generationConfig. */
void maki_request_thinking(maki_jw *w, const maki_request *request);
/* Anthropic takes no temperature while the model thinks. */
bool maki_request_thinks(const maki_request *request);
/* What becomes of earlier thoughts. */
maki_reasoning maki_request_reasoning(const maki_request *request);
enum { MAKI_REQUEST_MAX_TOKENS = 8192 }; /* where a limit must be said and none is given */

#endif
